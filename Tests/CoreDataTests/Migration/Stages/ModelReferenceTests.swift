import CoreData
import TestSupport
import Testing

/// References to versions of models, which are found where they are and have the right checksum.
struct ModelReferenceTests {
    private func code(_ reference: NSManagedObjectModelReference) -> Int? {
        errorThrown { _ = try reference.resolve() }?.code
    }

    /// A version of each test alone: the program searches the files of all.
    private func version() -> NSManagedObjectModel {
        model(entity("Item\(UUID().uuidString.filter(\.isLetter))", text("name")))
    }

    @Test func aModelIsItself() {
        let model = PetVersions.first
        let reference = model.reference
        #expect(reference.resolvedModel === model)
        #expect(reference.versionChecksum == model.versionChecksum)
    }

    @Test func aFileIsRead() throws {
        let bundle = try ModelBundle([("V1", PetVersions.first), ("V2", PetVersions.second)])
        for version in [PetVersions.first, PetVersions.second] {
            let reference = NSManagedObjectModelReference(fileURL: bundle.url, versionChecksum: version.versionChecksum)
            try #expect(reference.resolve().entityVersionHashesByName == version.entityVersionHashesByName)
        }
        let file = NSManagedObjectModelReference(
            fileURL: bundle.url.appendingPathComponent("V1.mom"), versionChecksum: PetVersions.first.versionChecksum)
        try #expect(file.resolve().entities.count == 1)
    }

    @Test func aNameIsFoundInABundle() throws {
        let resources = try ResourceFolder()
        let version = version()
        let name = "Named\(UUID().uuidString.filter(\.isLetter))"
        let folder = resources.url.appendingPathComponent("\(name).momd")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try version.archivedModel().write(to: folder.appendingPathComponent("\(name) 2.mom"))
        try PetVersions.first.archivedModel().write(to: folder.appendingPathComponent("\(name).mom"))
        for given in [name, "\(name) 2"] {
            let reference = NSManagedObjectModelReference(
                name: given, in: .main, versionChecksum: version.versionChecksum)
            try #expect(reference.resolve().versionChecksum == version.versionChecksum)
        }
    }

    @Test func hashesAreFoundInABundle() throws {
        let resources = try ResourceFolder()
        let version = version()
        try version.archivedModel().write(to: resources.url.appendingPathComponent("\(UUID()).mom"))
        let reference = NSManagedObjectModelReference(
            entityVersionHashes: version.entityVersionHashesByName, in: nil, versionChecksum: version.versionChecksum)
        try #expect(reference.resolve().versionChecksum == version.versionChecksum)
    }

    @Test("295: A model that cannot be found gives 134504.") func aMissingModelIsAnError() {
        let url = URL(fileURLWithPath: "/nowhere/Model.momd")
        let checksum = PetVersions.first.versionChecksum
        #expect(code(.init(fileURL: url, versionChecksum: checksum)) == NSManagedObjectModelReferenceNotFoundError)
        #expect(
            code(.init(name: "NoSuchModel", in: .main, versionChecksum: checksum))
                == NSManagedObjectModelReferenceNotFoundError)
        #expect(
            code(.init(entityVersionHashes: ["NoSuch": Data([1])], in: .main, versionChecksum: checksum))
                == NSManagedObjectModelReferenceNotFoundError)
    }

    @Test func anotherChecksumIsAnError() {
        let reference = NSManagedObjectModelReference(
            model: PetVersions.first, versionChecksum: PetVersions.second.versionChecksum)
        let error = errorThrown { _ = try reference.resolve() }
        #expect(error?.code == NSManagedObjectModelReferenceNotFoundError)
        #expect(error?.localizedDescription.contains(PetVersions.first.versionChecksum) == true)
    }

    @Test func theChecksumsOfABundleAreThoseOfItsVersions() throws {
        let bundle = try ModelBundle([("V1", PetVersions.first), ("V2", PetVersions.second)])
        let checksums = try NSManagedObjectModel.checksumsForVersionedModel(at: bundle.url)
        #expect(checksums == ["V1": PetVersions.first.versionChecksum, "V2": PetVersions.second.versionChecksum])
        #expect(throws: ModelReadingError.self) {
            try NSManagedObjectModel.checksumsForVersionedModel(at: URL(fileURLWithPath: "/nowhere/Model.momd"))
        }
    }
}
