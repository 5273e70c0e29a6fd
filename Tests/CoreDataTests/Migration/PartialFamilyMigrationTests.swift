import CoreData
import TestSupport
import Testing

/// Stores whose configuration has subentities without the entity that declares their relationships.
struct PartialFamilyMigrationTests {
    /// The place of the other attribute of the second version.
    enum Change {
        case atTheEnd, inTheFamily
    }

    /// Photos and videos with albums and tags, all of which are declared by what is not in the
    /// configuration.
    private func library(required: Bool, _ change: Change? = nil) -> NSManagedObjectModel {
        let media = entity("Media", text("title")), photo = entity("Photo"), video = entity("Video")
        media.isAbstract = true
        media.subentities = [photo, video]
        let album = entity("Album", text("name")), tag = entity("Tag", text("name"))
        switch change {
        case .atTheEnd: album.properties += [text("note")]
        case .inTheFamily: media.properties += [text("note")]
        case nil: break
        }
        relate(media, "album", optional: !required, album, inverse: "items", inverseToMany: true)
        relate(album, "cover", media, inverse: "covered")
        relate(media, "tags", toMany: true, tag, inverse: "media", inverseToMany: true)
        let model = model(media, photo, video, album, tag)
        model.setEntities([photo, video, album, tag], forConfigurationName: "Library")
        return model
    }

    @Test(
        arguments: StoreKind.persistent,
        [(Change.atTheEnd, false), (.atTheEnd, true), (.inTheFamily, false), (.inTheFamily, true)])
    func inheritedRelationshipsAreKept(kind: StoreKind, version: (change: Change, isRequired: Bool)) throws {
        let (change, required) = version
        let store = try MigratedStore(kind)
        try store.open(library(required: required), configuration: "Library") { context in
            let tags = ["x", "y"].map { context.insert("Tag", ["name": $0]) }
            for (index, name) in ["Photo", "Video"].enumerated() {
                let album = context.insert("Album", ["name": "album of \(name)"])
                let medium = context.insert(
                    name, ["title": name, "album": album, "tags": NSSet(array: Array(tags[index...]))])
                album.setValue(medium, forKey: "cover")
            }
        }
        let found = try store.open(library(required: required, change), configuration: "Library") { context in
            try ["Photo", "Video"].flatMap { try context.objects($0) }.map { medium in
                let album = medium.value(forKey: "album") as? NSManagedObject
                let tags = (medium.value(forKey: "tags") as? Set<NSManagedObject>)?.compactMap {
                    $0.value(forKey: "name") as? String
                }
                return [
                    medium.value(forKey: "title") as? String, album?.value(forKey: "name") as? String,
                    tags?.sorted().joined(),
                    (album?.value(forKey: "items") as? Set<NSManagedObject>)?.contains(medium) == true ? "item" : nil,
                    album?.value(forKey: "cover") as? NSManagedObject === medium ? "cover" : nil,
                ]
            }
        }
        #expect(
            found == [
                ["Photo", "album of Photo", "xy", "item", "cover"], ["Video", "album of Video", "y", "item", "cover"],
            ])
    }
}
