import Foundation
import TestSupport
import Testing

@testable import CoreData

/// There is a class of this name in the module TestSupport as well.
final class StoreyedDepot: NSManagedObject {}

/// Which of several classes of one name the entities of a model file mean.
struct ClassModuleTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A model of an entity with a class, in a folder of some name.
    private func model(_ className: String, in bundle: String, module: String? = nil) throws -> NSManagedObjectModel {
        let url = folder.file(bundle).appendingPathComponent("Depots.xcdatamodeld/Depots.xcdatamodel")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        let text =
            "<model><entity name=\"Depot\" representedClassName=\"\(className)\"><attribute name=\"x\" "
            + "attributeType=\"String\"/></entity></model>"
        try Data(text.utf8).write(to: url.appendingPathComponent("contents"))
        return try NSManagedObjectModel(reading: url.deletingLastPathComponent(), module: module)
    }

    private func objectClass(_ model: NSManagedObjectModel) throws -> NSManagedObject.Type {
        try #require(model.entitiesByName["Depot"]).objectClass
    }

    @Test(arguments: [".StoreyedDepot", "StoreyedDepot", "FormerModule.StoreyedDepot"])
    func theResourceBundlesTargetDecides(_ name: String) throws {
        #expect(
            try objectClass(model(name, in: "Package_CoreDataModelTests.resources"))
                == CoreDataModelTests.StoreyedDepot.self)
        #expect(try objectClass(model(name, in: "Package_TestSupport.resources")) == TestSupport.StoreyedDepot.self)
        #expect(try objectClass(model(name, in: "Package_TestSupport.bundle")) == TestSupport.StoreyedDepot.self)
    }

    @Test func aPackagesNameMayHaveUnderscores() throws {
        #expect(
            try objectClass(model(".StoreyedDepot", in: "My_own_package_TestSupport.resources"))
                == TestSupport.StoreyedDepot.self)
    }

    @Test func theModuleCanBeGiven() throws {
        #expect(
            try objectClass(model(".StoreyedDepot", in: "Models", module: "TestSupport"))
                == TestSupport.StoreyedDepot.self)
        #expect(
            try objectClass(model(".StoreyedDepot", in: "Package_TestSupport.resources", module: "CoreDataModelTests"))
                == CoreDataModelTests.StoreyedDepot.self)
    }

    @Test func aNameWithItsModuleMeansThat() throws {
        #expect(
            try objectClass(model("CoreDataModelTests.StoreyedDepot", in: "Package_TestSupport.resources"))
                == CoreDataModelTests.StoreyedDepot.self)
    }

    @Test func theNameHasTheModuleAsInACompiledModel() throws {
        #expect(
            try model(".StoreyedDepot", in: "Package_Own-Target.resources").entities.first?.managedObjectClassName
                == "Own_Target.StoreyedDepot")
        #expect(try model(".StoreyedDepot", in: "Models").entities.first?.managedObjectClassName == "StoreyedDepot")
        #expect(
            try model("StoreyedDepot", in: "Package_TestSupport.resources").entities.first?.managedObjectClassName
                == "StoreyedDepot")
    }

    @Test func aClassOfAnotherModuleIsFoundWhereTheBundlesTargetHasNone() throws {
        let entity = try #require(
            try model(".SupportedDepot", in: "Package_CoreDataModelTests.resources").entities.first)
        #expect(entity.objectClass == SupportedDepot.self)
    }

    @Test func aCopyAndAMergedModelMeanTheSame() throws {
        let model = try model("StoreyedDepot", in: "Package_TestSupport.resources")
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        #expect(try objectClass(copy) == TestSupport.StoreyedDepot.self)
        let merged = try #require(NSManagedObjectModel(byMerging: [model]))
        #expect(try objectClass(merged) == TestSupport.StoreyedDepot.self)
    }

    @Test func objectsAreOfTheClassThatTheBundleDecides() throws {
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: try model(".StoreyedDepot", in: "Package_TestSupport.resources"))
        _ = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = coordinator.newContext()
        #expect(NSEntityDescription.insertNewObject(forEntityName: "Depot", into: context) is TestSupport.StoreyedDepot)
    }
}
