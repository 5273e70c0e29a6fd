import ClassLookupFixtures
import Foundation
import TestSupport
import Testing

@testable import CoreData

private class SharedName: FixtureBase {}
final class Plain: FixtureBase {}
final class OfGenericBase: GenericBase<Int> {}
final class Unrelated {}
private final class FilePrivate: FixtureBase {}

enum Outer {
    final class Inner: FixtureBase {}
    enum Deeper { final class Innermost: FixtureBase {} }
}
extension Outer { final class InExtension: FixtureBase {} }
extension OuterFixture { final class InForeignType: FixtureBase {} }

struct ClassLookupTests {
    private func find(_ name: String) -> AnyClass? {
        guard case .found(let type) = ClassLookup.find(name, inheritingFrom: FixtureBase.self) else { return nil }
        return type
    }

    @Test func theSubclassesOfAClassAreFoundWhereverTheyAreDeclared() {
        let found = ClassLookup.subclasses(of: FixtureBase.self)
        let expected: [AnyClass] = [
            Plain.self, SharedName.self, FilePrivate.self, Outer.Inner.self, Outer.Deeper.Innermost.self,
            Outer.InExtension.self,
            OuterFixture.InForeignType.self,
        ]
        for type in expected { #expect(found.filter { $0 == type }.count == 1, "\(type)") }
        #expect(!found.contains { $0 == FixtureBase.self || $0 == Unrelated.self })
        #expect(found.allSatisfy { $0 is FixtureBase.Type })
        #expect(ClassLookup.subclasses(of: Plain.self).isEmpty)
    }

    @Test func aSubclassIsFoundByItsNameAmongThoseOfItsBase() {
        #expect(ClassLookup.subclass(named: "Plain", of: FixtureBase.self) == Plain.self)
        #expect(ClassLookup.subclass(named: "Unrelated", of: FixtureBase.self) == nil)
    }

    @Test(arguments: ["ClassLookupTests.Plain", "Plain", ".Plain"])
    func aClassIsFoundWithAndWithoutItsModule(name: String) {
        #expect(find(name) == Plain.self)
    }

    @Test func aNestedClassIsFoundByItsPath() {
        #expect(find("ClassLookupTests.Outer.Inner") == Outer.Inner.self)
        #expect(find("Outer.Inner") == Outer.Inner.self)
        #expect(find("Inner") == Outer.Inner.self)
        #expect(find("ClassLookupTests.Outer.Deeper.Innermost") == Outer.Deeper.Innermost.self)
        #expect(find("ClassLookupTests.Outer.InExtension") == Outer.InExtension.self)
        #expect(find("OuterFixture.InForeignType") == OuterFixture.InForeignType.self)
    }

    @Test func aClassOfAnotherModuleIsFound() {
        #expect(find("ClassLookupFixtures.OnlyInFixtures") == OnlyInFixtures.self)
        #expect(find("OnlyInFixtures") == OnlyInFixtures.self)
        #expect(find("ClassLookupFixtures.OuterFixture.Nested") == OuterFixture.Nested.self)
    }

    @Test func aClassThatMovedToAnotherModuleIsFoundByTheRestOfItsName() {
        #expect(find("FormerModule.OnlyInFixtures") == OnlyInFixtures.self)
    }

    @Test func theNamedModuleDecidesBetweenClassesOfOneName() {
        #expect(find("ClassLookupTests.SharedName") == SharedName.self)
        #expect(find("ClassLookupFixtures.SharedName") == ClassLookupFixtures.SharedName.self)
    }

    @Test func aNameOfTwoClassesIsAmbiguous() {
        guard case .ambiguous(let types) = ClassLookup.find("SharedName", inheritingFrom: FixtureBase.self) else {
            Issue.record("expected two candidates")
            return
        }
        #expect(Set(types.map(ObjectIdentifier.init)).count == 2)
        #expect(types.contains { $0 == SharedName.self })
        #expect(types.contains { $0 == ClassLookupFixtures.SharedName.self })
    }

    @Test func privateAndLocalClassesAreFound() {
        final class Local: FixtureBase {}
        #expect(find("ClassLookupTests.FilePrivate") == FilePrivate.self)
        #expect(find("Local") == Local.self)
        #expect(ClassLookup.name(of: FilePrivate.self) == "ClassLookupTests.FilePrivate")
    }

    @Test func aSubclassOfAGenericClassIsFoundButNotTheGenericClass() {
        #expect(find("OfGenericBase") == OfGenericBase.self)
        #expect(find("GenericBase") == nil)
        #expect(find("InsideGeneric") == nil)
    }

    @Test func onlySubclassesOfTheBaseAreFound() {
        #expect(find("Unrelated") == nil)
        #expect(find("FixtureBase") == FixtureBase.self)
        #expect(find("ClassLookupTests") == nil)
        #expect(find("NoSuchClass") == nil)
        #expect(find("") == nil)
        #expect(find(".") == nil)
    }

    @Test func aNameReadsBackAsItsClass() {
        for type in [Plain.self, Outer.Inner.self, FilePrivate.self, OnlyInFixtures.self] as [AnyClass] {
            #expect(find(ClassLookup.name(of: type)) == type)
        }
    }

    #if os(Linux)
        @Test func aClassOfALibraryLoadedLaterIsFound() throws {
            let folder = try TemporaryFolder()
            let source = folder.file("Late.swift")
            let library = folder.file("libLate.so")
            try "open class LateBase {}\npublic final class LateClass: LateBase {}\n".write(
                to: source, atomically: true, encoding: .utf8)
            let compilation = try ProgramRun.swiftc([
                "-emit-library", "-module-name", "Late", "-parse-as-library", source.path, "-o", library.path,
            ])
            try #require(compilation.status == 0, "\(compilation.output)")

            // The name is not in the index that this search builds.
            guard case .none = ClassLookup.find("Late.LateClass", inheritingFrom: FixtureBase.self) else {
                Issue.record("the library is not loaded yet")
                return
            }
            try #require(dlopen(library.path, RTLD_NOW) != nil)
            let base: AnyClass = try #require(_typeByName("Late.LateBase") as? AnyClass)
            guard case .found(let type) = ClassLookup.find("Late.LateClass", inheritingFrom: base) else {
                Issue.record("the library's class is not found")
                return
            }
            #expect(ClassLookup.name(of: type) == "Late.LateClass")
        }
    #endif
}
