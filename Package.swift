// swift-tools-version: 6.0
import CompilerPluginSupport
import Foundation
import PackageDescription

// MARK: swift-syntax

/// Where macro plug-ins get swift-syntax from: the package, as the macros of any package do, where
/// this package is somebody's dependency, which must not have the flags that SwiftPM calls unsafe;
/// the copy that the toolchain ships, which needs no network, in a checkout of one's own.
/// OPENCOREDATA_SWIFT_SYNTAX_PACKAGE=1 or 0 in the environment overrules that.
enum SwiftSyntaxSource {
    case toolchain(folder: String)
    case package

    static let current: SwiftSyntaxSource = {
        let environment = ProcessInfo.processInfo.environment
        let usesPackage =
            switch environment["OPENCOREDATA_SWIFT_SYNTAX_PACKAGE"] {
            case "1": true
            case "0": false
            default: isFetchedDependency(packageFolder: Context.packageDirectory)
            }
        if usesPackage { return .package }
        // Without a folder the build says that SwiftSyntax is missing, and
        // Sources/MacroImplementations/MacroPlugin.swift why.
        return .toolchain(folder: toolchainFolder(searchPath: environment["PATH"] ?? "") ?? "")
    }()

    /// Whether SwiftPM fetched this package for another one: it lies in SwiftPM's `checkouts` or
    /// `registry/downloads`, or is read out of a repository, where it has no folder at all.
    /// Dependencies by path lie anywhere else.
    private static func isFetchedDependency(packageFolder: String) -> Bool {
        let folders = URL(fileURLWithPath: packageFolder).pathComponents.dropLast()
        return folders.isEmpty || folders.last == "checkouts"
            || zip(folders, folders.dropFirst()).contains { $0 == "registry" && $1 == "downloads" }
    }

    /// The `lib/swift/host` folder beside the first `swiftc` on the path that has one.
    private static func toolchainFolder(searchPath: String) -> String? {
        #if os(Windows)
            let (separator, compiler): (Character, String) = (";", "swiftc.exe")
        #else
            let (separator, compiler): (Character, String) = (":", "swiftc")
        #endif
        for folder in searchPath.split(separator: separator) {
            let link = URL(fileURLWithPath: String(folder)).appendingPathComponent(compiler)
            guard FileManager.default.fileExists(atPath: link.path) else { continue }
            let host = link.resolvingSymlinksInPath().deletingLastPathComponent().deletingLastPathComponent()
                .appendingPathComponent("lib/swift/host")
            if FileManager.default.fileExists(atPath: host.appendingPathComponent("SwiftSyntax.swiftmodule").path) {
                return host.path
            }
        }
        return nil
    }

    var packages: [Package.Dependency] {
        switch self {
        case .toolchain: []
        case .package: [.package(url: "https://github.com/swiftlang/swift-syntax.git", "600.0.0"..<"700.0.0")]
        }
    }

    func products(_ names: [String]) -> [Target.Dependency] {
        switch self {
        case .toolchain: []
        case .package: names.map { .product(name: $0, package: "swift-syntax") }
        }
    }

    /// What a macro plug-in uses.
    var macroProducts: [Target.Dependency] {
        products(["SwiftCompilerPlugin", "SwiftDiagnostics", "SwiftSyntax", "SwiftSyntaxBuilder", "SwiftSyntaxMacros"])
    }

    var swiftSettings: [SwiftSetting] {
        switch self {
        case .toolchain(let folder): [.unsafeFlags(["-I", folder])]
        case .package: [.define("SWIFT_SYNTAX_PACKAGE")]
        }
    }

    var linkerSettings: [LinkerSetting] {
        switch self {
        case .toolchain(let folder): [.unsafeFlags(["-L", folder, "-Xlinker", "-rpath", "-Xlinker", folder])]
        case .package: []
        }
    }
}

let swiftSyntax = SwiftSyntaxSource.current

// MARK: Package

let package = Package(
    name: "OpenCoreData",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "CoreData", targets: ["CoreData"]),
        .library(name: "CoreDataPostgreSQL", targets: ["CoreDataPostgreSQL"]),
        .library(name: "SafeCoreData", targets: ["SafeCoreData"]),
        .library(name: "SafeCoreDataTesting", targets: ["SafeCoreDataTesting"]),
        .executable(name: "coredata", targets: ["CoreDataTool"]),
        .executable(name: "coredata-postgresql", targets: ["CoreDataToolPostgreSQL"]),
        .executable(name: "inventory", targets: ["Inventory"]),
        .plugin(name: "GenerateEntities", targets: ["GenerateEntities"]),
    ],
    dependencies: swiftSyntax.packages,
    targets: [
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .target(name: "CSwiftRuntime", publicHeadersPath: "."),
        .target(name: "Predicates"),
        .target(
            name: "MacroImplementations", dependencies: swiftSyntax.macroProducts,
            swiftSettings: swiftSyntax.swiftSettings,
            linkerSettings: swiftSyntax.linkerSettings),
        .macro(
            name: "CoreDataMacros", dependencies: ["MacroImplementations"] + swiftSyntax.macroProducts,
            swiftSettings: swiftSyntax.swiftSettings, linkerSettings: swiftSyntax.linkerSettings),
        .macro(
            name: "SafeCoreDataMacros", dependencies: ["MacroImplementations"] + swiftSyntax.macroProducts,
            swiftSettings: swiftSyntax.swiftSettings, linkerSettings: swiftSyntax.linkerSettings),
        .target(name: "OpenCoreDataModel", dependencies: ["Predicates", "CSwiftRuntime", "CZlib"]),
        .target(
            name: "CoreData",
            dependencies: ["CoreDataMacros", "OpenCoreDataModel", "Predicates", "CSQLite", "CSwiftRuntime", "CZlib"]),
        .target(name: "CoreDataPostgreSQL", dependencies: ["CoreData", "CPostgreSQL"]),
        .target(name: "SafeCoreData", dependencies: ["CoreData", "SafeCoreDataMacros"]),
        .target(name: "SafeCoreDataTesting", dependencies: ["SafeCoreData"]),
        .target(name: "CoreDataToolKit", dependencies: ["CoreData", "CSQLite"]),
        .executableTarget(name: "CoreDataTool", dependencies: ["CoreDataToolKit"]),
        .executableTarget(name: "CoreDataToolPostgreSQL", dependencies: ["CoreDataToolKit", "CoreDataPostgreSQL"]),
        .plugin(name: "GenerateEntities", capability: .buildTool(), dependencies: ["CoreDataTool"]),
        .executableTarget(
            name: "Inventory", dependencies: ["CoreDataPostgreSQL", "SafeCoreData"], path: "Examples/Inventory"),
        .testTarget(
            name: "CoreDataToolTests",
            dependencies: ["CoreDataToolKit", "CoreData", "SafeCoreData", "CSQLite", "TestSupport"]),
        .executableTarget(
            name: "Benchmarks",
            dependencies: ["CoreData", "CoreDataPostgreSQL", "CPostgreSQL", "SafeCoreData", "CSQLite", "TestSupport"],
            path: "Benchmarks"),
        .target(
            name: "TestSupport", dependencies: ["CoreData", "CoreDataPostgreSQL", "CPostgreSQL", "CSQLite", "CZlib"],
            path: "Tests/TestSupport",
            exclude: ["OwnStores/Texts"]),
        .testTarget(name: "CoreDataTests", dependencies: ["CoreData", "CSQLite", "TestSupport"]),
        .testTarget(name: "MacProgramTests", dependencies: ["CoreData", "TestSupport"]),
        .testTarget(name: "DeepTests", dependencies: ["CoreData", "TestSupport"]),
        .testTarget(name: "PredicatesTests", dependencies: ["Predicates"]),
        .testTarget(name: "CoreDataModelTests", dependencies: ["CoreData", "CSQLite", "TestSupport"]),
        .testTarget(name: "StoreTests", dependencies: ["CoreData", "CSQLite", "TestSupport"]),
        .testTarget(
            name: "PostgreSQLTests",
            dependencies: ["CoreDataPostgreSQL", "CoreData", "CPostgreSQL", "OpenCoreDataModel", "TestSupport"]),
        .testTarget(name: "ResultsTests", dependencies: ["CoreData", "TestSupport"]),
        .testTarget(
            name: "SQLTests", dependencies: ["CoreDataPostgreSQL", "CoreData", "CSQLite", "TestSupport"],
            exclude: ["Expected", "Recorded"]),
        .testTarget(name: "FixtureTests", dependencies: ["CoreData", "CSQLite", "TestSupport"]),
        .executableTarget(
            name: "OtherProgram", dependencies: ["CoreData", "CoreDataPostgreSQL", "CSQLite", "TestSupport"],
            path: "Tests/OtherProgram"),
        .executableTarget(name: "StackStress", dependencies: ["SafeCoreData"], path: "Tests/StackStress"),
        .testTarget(
            name: "SafeCoreDataTests", dependencies: ["SafeCoreData", "SafeCoreDataTesting", "CSQLite", "TestSupport"]),
        .testTarget(name: "PackageTests", dependencies: ["TestSupport"]),
        .target(name: "ClassLookupFixtures", path: "Tests/ClassLookupFixtures"),
        .testTarget(name: "ClassLookupTests", dependencies: ["CoreData", "ClassLookupFixtures", "TestSupport"]),
        .target(
            name: "MacroTestSupport",
            dependencies: swiftSyntax.products(["SwiftParser", "SwiftSyntax", "SwiftSyntaxMacroExpansion"]),
            path: "Tests/MacroTestSupport", swiftSettings: swiftSyntax.swiftSettings,
            linkerSettings: swiftSyntax.linkerSettings),
        .testTarget(
            name: "CoreDataMacrosTests", dependencies: ["CoreData", "MacroImplementations", "MacroTestSupport"],
            swiftSettings: swiftSyntax.swiftSettings, linkerSettings: swiftSyntax.linkerSettings),
        .testTarget(
            name: "LayerTests", dependencies: swiftSyntax.products(["SwiftParser", "SwiftSyntax"]),
            swiftSettings: swiftSyntax.swiftSettings, linkerSettings: swiftSyntax.linkerSettings),
        .testTarget(
            name: "SafeCoreDataMacrosTests", dependencies: ["MacroImplementations", "MacroTestSupport"],
            swiftSettings: swiftSyntax.swiftSettings, linkerSettings: swiftSyntax.linkerSettings),
    ]
)

// MARK: Deep tests

// Optimizing the tests takes far longer than the deep tests gain by it: what they test is
// optimized.
if case .toolchain = swiftSyntax, Context.environment["OPENCOREDATA_UNOPTIMIZED_TESTS"] == "1" {
    let unoptimized = SwiftSetting.unsafeFlags(["-Onone", "-no-whole-module-optimization", "-enable-batch-mode"])
    for target in package.targets where target.type == .test {
        target.swiftSettings = (target.swiftSettings ?? []) + [unoptimized]
    }
}
