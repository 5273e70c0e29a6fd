import TestSupport
import Testing

@testable import CoreData

/// Copies of stores whose values are larger than the memory that a copy may take.
struct GalleryCopyTests {
    private static func model() -> NSManagedObjectModel {
        let bytes = NSAttributeDescription("bytes", .binaryDataAttributeType)
        bytes.allowsExternalBinaryDataStorage = true
        let number = NSAttributeDescription("number", .integer64AttributeType)
        let photo = NSEntityDescription("Photo", class: "NSManagedObject", [number, bytes])
        let album = NSEntityDescription(
            "Album", class: "NSManagedObject", [NSAttributeDescription("title", .stringAttributeType)])
        relate(album, "photos", toMany: true, ordered: true, photo, inverse: "album")
        relate(album, "favourites", toMany: true, photo, inverse: "fans", inverseToMany: true)
        return NSManagedObjectModel([photo, album])
    }

    private static func open(_ url: URL) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        try coordinator.addPersistentStore(type: .sqlite, at: url)
        return coordinator
    }

    private static func bytes(_ number: Int, _ size: Int) -> Data {
        Data(repeating: UInt8(truncatingIfNeeded: number), count: size)
    }

    private static func make(_ url: URL, photos count: Int, size: Int) throws {
        let coordinator = try open(url)
        let context = coordinator.newContext()
        let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
        for number in 0..<count {
            let photo = NSEntityDescription.insertNewObject(forEntityName: "Photo", into: context)
            photo.setValue(number, forKey: "number")
            photo.setValue(bytes(number, size), forKey: "bytes")
            photo.setValue(album, forKey: "album")
            photo.setValue(NSSet(object: album), forKey: "fans")
        }
        try context.save()
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    /// The most memory that the program has had so far.
    static func peakKibibytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.filter(\.isNumber)))
    }

    @Test func aGalleryIsCopiedInLessMemoryThanItTakes() async throws {
        let folder = try TemporaryFolder()
        let (url, copy) = (folder.file("gallery.sqlite"), folder.file("copy.sqlite"))
        let (count, size) = (48, 4 << 20)
        try Self.make(url, photos: count, size: size)
        await #expect(processExitsWith: .success) { [url = url as URL, copy = copy as URL] in
            let coordinator = try GalleryCopyTests.open(url)
            let store = try #require(coordinator.persistentStores.first)
            let before = try GalleryCopyTests.peakKibibytes()
            try coordinator.migratePersistentStore(store, to: copy, type: .sqlite)
            try #require(try GalleryCopyTests.peakKibibytes() - before < 100 << 10)
        }
        let context = try Self.open(copy).newContext()
        let album = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Album")).first)
        let photos = try #require(album.value(forKey: "photos") as? NSOrderedSet).array.compactMap {
            $0 as? NSManagedObject
        }
        #expect(photos.map { $0.value(forKey: "number") as? Int } == Array(0..<count))
        #expect((album.value(forKey: "favourites") as? NSSet)?.count == count)
        for (number, photo) in photos.enumerated() {
            #expect(photo.value(forKey: "bytes") as? Data == Self.bytes(number, size))
        }
    }
}
