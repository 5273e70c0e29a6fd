import Foundation
import Testing

@testable import CoreData

/// The parts of a server store's URL that may be shown to everybody.
struct ShownURLTests {
    @Test(arguments: [
        ("postgresql://app:secret@db.example/shop", "postgresql://app@db.example/shop"),
        (
            "postgresql://app:se%40cret@db.example:5432/shop?sslmode=require",
            "postgresql://app@db.example:5432/shop?sslmode=require"
        ),
        ("postgresql://app:1234#secret@db.example/shop", "postgresql://app@db.example/shop"),
        ("postgresql://app:12/34secret@db.example/shop", "postgresql://app@db.example/shop"),
        ("postgresql:app:secret@db.example/shop", "postgresql:app@db.example/shop"),
        ("postgres://app@azure:12?secret@db.example/shop", "postgres://app%40azure@db.example/shop"),
        ("postgresql:///shop?host=/tmp&password=secret", "postgresql:///shop?host=/tmp"),
        ("postgresql:///shop?passwd=secret&user=app", "postgresql:///shop?user=app"),
        ("postgresql:///shop?password=se&cret&user=app", "postgresql:///shop?user=app"),
        ("postgresql:///shop?oauth_client_secret=secret", "postgresql:///shop"),
        ("postgresql:///shop?p%61ssword=secret&ocd.schema=a", "postgresql:///shop?ocd.schema=a"),
        ("postgresql:///shop?ocd.Direct=postgresql%3A%2F%2Fu%3Asecret%40h", "postgresql:///shop"),
        ("postgresql:///shop?ocd.direct=postgresql%3A%2F%2Fu%3Asecret%40h", "postgresql:///shop"),
        ("other://app:secret@host/place?Password=secret&size=3", "other://app@host/place?size=3"),
    ]) func passwordsAreLeftOut(url: String, shown: String) throws {
        #expect(try #require(URL(string: url)).withoutPassword.absoluteString == shown)
    }

    @Test(arguments: [
        "postgresql://db.example:5432/shop", "postgresql://app@[::1]:5432/shop?ocd.schema=a&ocd.keys=scattered",
        "postgresql://one,two/shop?target_session_attrs=read-write",
        "postgresql:///shop?host=/tmp/a&user=app&application_name=b",
        "postgresql://app@/shop?options=-c%20search_path%3Da", "other://host:80/place@first?size=3",
        "file:///tmp/a:b@c.sqlite",
    ]) func othersAreShownAsTheyAre(url: String) throws {
        #expect(try #require(URL(string: url)).withoutPassword.absoluteString == url)
    }
}
