import Foundation
import TestSupport
import Testing

/// How the package's manifest gets swift-syntax: as a package where SwiftPM fetched this one for
/// somebody, from the toolchain elsewhere; and what its products link.
struct ManifestTests {
    @Test func aCheckoutOfOnesOwnUsesTheToolchainsSwiftSyntaxAndNoOtherPackage() throws {
        let folder = try TemporaryFolder()
        let manifest = try Manifest(copiedTo: folder.file("Projects/OpenCoreData"))
        #expect(manifest.dependencies.isEmpty)
        #expect(manifest.unsafeFlags.contains("-I"))
    }

    @Test(arguments: [false, true]) func onlyDeepRunsLeaveTheTestsUnoptimized(isDeep: Bool) throws {
        let folder = try TemporaryFolder()
        let manifest = try Manifest(copiedTo: folder.file("Projects/OpenCoreData"), isDeep: isDeep)
        #expect(manifest.unsafeFlags.contains("-Onone") == isDeep)
    }

    /// A dependent without a PostgreSQL store needs neither libpq nor the package that has it.
    @Test func onlyTheDriverLinksTheClientLibraryOfPostgreSQL() throws {
        let folder = try TemporaryFolder()
        let manifest = try Manifest(copiedTo: folder.file("Projects/OpenCoreData"))
        for product in ["CoreData", "SafeCoreData", "SafeCoreDataTesting", "coredata"] {
            let targets = manifest.targets(of: product)
            #expect(targets.isSuperset(of: ["CoreData", "OpenCoreDataModel", "CSQLite"]), "\(product)")
            #expect(targets.isDisjoint(with: ["CPostgreSQL", "CoreDataPostgreSQL"]), "\(product)")
            #expect(manifest.libraries(of: product).isDisjoint(with: Self.namesOfTheClientLibrary), "\(product)")
        }
        for product in ["CoreDataPostgreSQL", "coredata-postgresql"] {
            #expect(manifest.targets(of: product).contains("CPostgreSQL"), "\(product)")
        }
        #expect(!manifest.libraries(of: "CoreDataPostgreSQL").isDisjoint(with: Self.namesOfTheClientLibrary))
    }

    /// The names of libpq for pkg-config and the linker.
    private static let namesOfTheClientLibrary: Set = ["libpq", "pq", "-lpq"]

    @Test(arguments: ["checkouts/OpenCoreData", "registry/downloads/owner/OpenCoreData/1.0.1"], [false, true])
    func aFetchedDependencyUsesTheSwiftSyntaxPackageAndHasNoUnsafeFlags(place: String, isDeep: Bool) throws {
        let folder = try TemporaryFolder()
        let manifest = try Manifest(copiedTo: folder.file(place), isDeep: isDeep)
        #expect(manifest.dependencies == ["swift-syntax"])
        #expect(manifest.unsafeFlags.isEmpty)
    }

    @Test func theEnvironmentOverrulesThePlace() throws {
        let folder = try TemporaryFolder()
        let own = try Manifest(copiedTo: folder.file("Projects/OpenCoreData"), swiftSyntaxPackage: "1")
        #expect(own.dependencies == ["swift-syntax"])
        #expect(own.unsafeFlags.isEmpty)
        let fetched = try Manifest(copiedTo: folder.file("checkouts/OpenCoreData"), swiftSyntaxPackage: "0")
        #expect(fetched.dependencies.isEmpty)
        #expect(fetched.unsafeFlags.contains("-I"))
    }

    /// SwiftPM itself resolves a program that asks for a version, and refuses packages with unsafe
    /// flags while it does.
    @Test func aProgramCanDependOnAVersion() throws {
        let folder = try TemporaryFolder()
        let library = try Repository.ofThisPackage(in: folder).folder
        let syntax = try Repository(at: folder.file("swift-syntax"), tag: "602.0.0", files: Self.standInForSwiftSyntax)
            .folder
        let client = folder.file("Client")
        try write(Self.client(of: library), to: client)

        let mirror = try swiftPackage(
            [
                "config", "set-mirror", "--original", "https://github.com/swiftlang/swift-syntax.git", "--mirror",
                syntax.absoluteString,
            ],
            in: client)
        #expect(mirror.status == 0, "\(mirror.output)")
        let tree = try swiftPackage(["show-dependencies", "--format", "flatlist"], in: client)
        #expect(tree.status == 0, "\(tree.output)")
        #expect(tree.output.contains("opencoredata"), "\(tree.output)")
        #expect(tree.output.contains("swift-syntax"), "\(tree.output)")
    }

    /// With the flags that the toolchain's copy needs SwiftPM refuses a version: the test above
    /// would notice.
    @Test func swiftPMRefusesAVersionWithUnsafeFlags() throws {
        let folder = try TemporaryFolder()
        let library = try Repository.ofThisPackage(in: folder).folder
        let client = folder.file("Client")
        try write(Self.client(of: library), to: client)
        let tree = try swiftPackage(
            ["show-dependencies"], in: client, swiftSyntaxPackage: "0")
        #expect(tree.output.contains("unsafe build flags"), "\(tree.output)")
    }

    private static func client(of library: URL) -> [String: String] {
        [
            "Package.swift": """
            // swift-tools-version: 6.0
            import PackageDescription

            let package = Package(
                name: "Client",
                platforms: [.macOS(.v15)],
                dependencies: [.package(url: "\(library.absoluteString)", from: "1.0.0")],
                targets: [.executableTarget(name: "Client", dependencies: [.product(name: "SafeCoreData", package: \
            "OpenCoreData")])]
            )
            """,
            "Sources/Client/main.swift": "",
        ]
    }

    /// A package with the products of swift-syntax that this one names, so that nothing is fetched
    /// from elsewhere.
    private static var standInForSwiftSyntax: [String: String] {
        let names = [
            "SwiftCompilerPlugin", "SwiftDiagnostics", "SwiftParser", "SwiftSyntax", "SwiftSyntaxBuilder",
            "SwiftSyntaxMacroExpansion",
            "SwiftSyntaxMacros",
        ]
        var files = Dictionary(uniqueKeysWithValues: names.map { ("Sources/\($0)/Empty.swift", "") })
        files["Package.swift"] = """
            // swift-tools-version: 6.0
            import PackageDescription

            let names = \(names)
            let package = Package(
                name: "swift-syntax", products: names.map { .library(name: $0, targets: [$0]) }, targets: names.map { \
            .target(name: $0) })
            """
        return files
    }
}
