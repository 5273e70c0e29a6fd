import CoreData
import TestSupport

@testable import CoreDataToolKit

/// A store of photos in an album, for reports.
enum AlbumStore {
    /// A PNG of one point.
    static let png = Data(
        base64Encoded:
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")

    /// Seven photos of January to March 2024 in one album, with pictures of all sorts.
    static func make(at url: URL) throws {
        let photo = NSEntityDescription(
            "Photo",
            [
                NSAttributeDescription("title", .stringAttributeType),
                NSAttributeDescription("note", .stringAttributeType),
                NSAttributeDescription("taken", .dateAttributeType),
                NSAttributeDescription("edited", .dateAttributeType),
                NSAttributeDescription("picture", .binaryDataAttributeType),
            ])
        let album = NSEntityDescription("Album", [NSAttributeDescription("name", .stringAttributeType)])
        relate(photo, "album", album, inverse: "photos", inverseToMany: true)
        let stack = try TestStack(NSManagedObjectModel([photo, album]), url: url)
        let holiday = NSManagedObject(entity: stack.entity("Album"), insertInto: stack.context)
        holiday.setValue("Holiday", forKey: "name")
        for (index, day) in ["01-15", "01-20", "02-01", "02-29", "03-01", "03-20", "03-31"].enumerated() {
            let photo = NSManagedObject(entity: stack.entity("Photo"), insertInto: stack.context)
            photo.setValue("Photo \(index + 1)", forKey: "title")
            photo.setValue(DateText.date(from: "2024-\(day)T12:00Z"), forKey: "taken")
            photo.setValue(holiday, forKey: "album")
            photo.setValue(pictures[index], forKey: "picture")
            photo.setValue(notes[index], forKey: "note")
            if index == 0 { photo.setValue(Date.distantPast, forKey: "edited") }
            // Keys are given in the order of the saves.
            try stack.context.save()
        }
        try stack.coordinator.remove(stack.coordinator.persistentStores[0])
    }

    private static let pictures: [Data?] = [
        png, Data("GIF89a".utf8), Data([0xff, 0xd8, 0xff, 0xe0]), Data("RIFF\0\0\0\0WEBP".utf8),
        png.map { $0 + Data(repeating: 0, count: 300_000) }, Data([1, 2, 3]), nil,
    ]

    private static let notes: [String?] = [
        "first line\nsecond line", String(repeating: "long ", count: 100), nil, nil, nil, nil, nil,
    ]
}
