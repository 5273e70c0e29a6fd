// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "GeneratedModel",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "OpenCoreData", path: "../..")],
    targets: [
        .executableTarget(
            name: "Library",
            dependencies: [.product(name: "SafeCoreData", package: "OpenCoreData")],
            // The classes are the model: the file itself is needed only while the target is built.
            exclude: ["Library.xcdatamodeld"],
            plugins: [.plugin(name: "GenerateEntities", package: "OpenCoreData")])
    ]
)
