// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "OpenCoreData",
    products: [
        .library(name: "CoreData", targets: ["CoreData"])
    ],
    targets: [
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .target(name: "Predicates"),
        .target(name: "CoreData", dependencies: ["Predicates", "CSQLite", "CZlib"]),
        .testTarget(name: "PredicatesTests", dependencies: ["Predicates"]),
    ]
)
