import Foundation
import Synchronization

/// The classes of the running program, found by the name that an entity gives.
///
/// On Apple's platforms the Objective-C runtime knows every class by name. Elsewhere the compiler
/// leaves a record of every type in the program's image, and the Swift runtime lists the images:
/// this file reads those records, so that no class needs to be registered by hand.
package enum ClassLookup {
    /// The result of a search for a class.
    package enum Result {
        case none
        case found(AnyClass)
        /// Several classes have the name, and nothing tells which one is meant.
        case ambiguous([AnyClass])
    }

    /// Returns the class that `name` stands for among `base` and the classes that inherit from it.
    ///
    /// The name is `Module.Class`, `Module.Outer.Class` or `Class`; a leading full stop (Xcode's
    /// sign for "the current module") is ignored. A class of the named module comes first. If there
    /// is none, because the code has moved to another module, the rest of the name decides. Among
    /// equals, the first of the preferred modules that has one wins, and then the main executable's
    /// module.
    ///
    /// The first search takes time in proportion to the number of types in the program, later ones
    /// take constant time. A name that is not found causes a search in libraries loaded since.
    package static func find(_ name: String, inheritingFrom base: AnyClass, preferring modules: [String] = []) -> Result
    {
        let path = name.split(separator: ".").map(String.init)
        guard let simpleName = path.last else { return .none }
        let candidates = classes(simplyNamed: simpleName).filter { inherits($0, from: base) }
            .map { (type: $0, path: qualifiedPath(of: $0)) }

        // From the strictest interpretation of the name to the loosest; the first that fits any
        // class decides.
        var readings = [candidates.filter { $0.path == path }]
        for start in path.indices {
            readings.append(candidates.filter { $0.path.dropFirst().ends(with: path[start...]) })
        }
        guard let matches = readings.first(where: { !$0.isEmpty }) else { return .none }
        if matches.count == 1 { return .found(matches[0].type) }
        for module in modules + [executableModule] {
            let ofModule = matches.filter { $0.path.first == module }
            if ofModule.count == 1 { return .found(ofModule[0].type) }
        }
        return .ambiguous(matches.map(\.type))
    }

    /// Returns all classes with a name, in any module or type, that inherit from `base` or are
    /// `base`.
    package static func classes(named name: String, inheritingFrom base: AnyClass) -> [AnyClass] {
        classes(simplyNamed: name).filter { inherits($0, from: base) }
    }

    /// Returns the name by which `find` finds a class.
    ///
    /// It is `Module.Class`, with the types around it and without the marks of private or local
    /// declarations.
    package static func name(of type: AnyClass) -> String {
        qualifiedPath(of: type).joined(separator: ".")
    }

    /// The module of the main executable, which is named after it unless the build says otherwise.
    private static let executableModule: String = {
        let file = URL(fileURLWithPath: CommandLine.arguments.first ?? "").deletingPathExtension().lastPathComponent
        return String(file.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }()

    /// Whether a class is another one or a subclass of it.
    package static func inherits(_ type: AnyClass, from base: AnyClass) -> Bool {
        sequence(first: type) { _getSuperclass($0) }.contains { $0 == base }
    }

    /// The parts of a type's name, outermost first.
    ///
    /// The runtime writes `Module.Outer.Class`. For a private or a local class it puts a part in
    /// parentheses that stands for the file or function: `Module.(unknown context at $55d0).Class`
    /// or `Module.(Class in _1A2B)`. For a class declared in another module's type, the name begins
    /// with `(extension in Module):`.
    private static func qualifiedPath(of type: AnyClass) -> [String] {
        var path = [""]
        var remainder = String(reflecting: type)[...]
        while let character = remainder.popFirst() {
            switch character {
            case "(":
                let mark = remainder.prefix { $0 != ")" }
                remainder = remainder.dropFirst(mark.count + 1)
                if mark.hasPrefix("extension in ") {
                    remainder = remainder.dropFirst()  // the colon
                } else if mark.hasPrefix("unknown context ") {
                    remainder = remainder.dropFirst()  // the full stop
                } else if let end = mark.range(of: " in ") {
                    path[path.count - 1] += mark[..<end.lowerBound]
                }
            case ".": path.append("")
            default: path[path.count - 1].append(character)
            }
        }
        return path
    }

    /// Every class with a superclass.
    ///
    /// None on Apple's platforms, whose runtime would have to be asked in another way.
    static var allClasses: [AnyClass] {
        #if os(Linux) || os(Android) || os(FreeBSD) || os(OpenBSD)
            return TypeRecordIndex.shared.subclasses
        #else
            return []
        #endif
    }

    private static func classes(simplyNamed name: String) -> [AnyClass] {
        #if os(Linux) || os(Android) || os(FreeBSD) || os(OpenBSD)
            return TypeRecordIndex.shared.classes(simplyNamed: name)
        #else
            // Top-level classes of the executable are found without the records, others by their
            // full name.
            return [name, "\(executableModule).\(name)"].compactMap { NSClassFromString($0) }
        #endif
    }
}

extension Sequence {
    fileprivate func ends(with suffix: some BidirectionalCollection<Element>) -> Bool where Element: Equatable {
        Array(self).suffix(suffix.count).elementsEqual(suffix)
    }
}

#if os(Linux) || os(Android) || os(FreeBSD) || os(OpenBSD)
    /// The addresses of the descriptors of the program's classes.
    ///
    /// The key is the class's own name without module and outer types.
    private final class TypeRecordIndex: Sendable {
        static let shared = TypeRecordIndex()

        private struct State {
            /// The sections that have been read, by their address. The Swift runtime never removes
            /// an image: the descriptors stay where they are.
            var sections: Set<UInt> = []
            var descriptors: [String: [UInt]] = [:]
        }

        /// Guards the index.
        private let state = Mutex(State())

        func classes(simplyNamed name: String) -> [AnyClass] {
            let addresses = state.withLock { state in
                if state.descriptors[name] == nil { Self.readNewSections(into: &state) }
                return state.descriptors[name] ?? []
            }
            // Outside the lock: the first use of a class runs code of the program.
            return addresses.compactMap { UnsafeRawPointer(bitPattern: $0).flatMap(ClassDescriptor.init)?.makeClass() }
        }

        /// The classes that have a superclass.
        var subclasses: [AnyClass] {
            let addresses = state.withLock { state in
                Self.readNewSections(into: &state)
                return state.descriptors.values.flatMap { $0 }
            }
            return addresses.compactMap { UnsafeRawPointer(bitPattern: $0).flatMap(ClassDescriptor.init) }
                .filter(\.hasSuperclass).compactMap { $0.makeClass() }
        }

        private static func readNewSections(into state: inout State) {
            for sections in MetadataSections.all where state.sections.insert(sections.id).inserted {
                for descriptor in sections.classDescriptors {
                    state.descriptors[descriptor.name, default: []].append(UInt(bitPattern: descriptor.address))
                }
            }
        }
    }

    // MARK: - The runtime's layout

    // The layout is published in the Swift repository: docs/ABI/TypeMetadata.rst and
    // include/swift/ABI for records and descriptors, stdlib/public/SwiftShims for the sections.
    // Relative pointers are signed 32-bit distances from their own address; 0 stands for nil.

    /// Calls `body` for every loaded image that has Swift metadata, until it returns false.
    ///
    /// The runtime declares it with the C convention. For two pointers, Swift's own convention uses
    /// the same registers. The function is linked, not looked up, so that it is found in statically
    /// linked programs as well.
    @_silgen_name("swift_enumerateAllMetadataSections")
    private func enumerateAllMetadataSections(
        _ body: @convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer) -> Bool, _ context: UnsafeMutableRawPointer)

    /// The runtime's record of where one image has its metadata, made of words:
    ///
    ///     0  version
    ///     1  the image's base address
    ///     2  2 unused words
    ///     4  start and length in bytes of the section of protocols
    ///     6  … of protocol conformances
    ///     8  … of type records
    ///        … more sections, each version adding some at the end
    private struct MetadataSections {
        private let address: UnsafeRawPointer

        private static let versions: ClosedRange<UInt> = 4...5
        private static let wordSize = MemoryLayout<UInt>.size

        static var all: [MetadataSections] {
            var found: [MetadataSections] = []
            withUnsafeMutablePointer(to: &found) { found in
                enumerateAllMetadataSections(
                    { address, context in
                        context.assumingMemoryBound(to: [MetadataSections].self).pointee
                            .append(MetadataSections(address: address))
                        return true
                    }, UnsafeMutableRawPointer(found))
            }
            return found
        }

        /// Distinguishes the images of the program.
        var id: UInt { UInt(bitPattern: address) }

        private func word(_ index: Int) -> UInt {
            address.load(fromByteOffset: index * Self.wordSize, as: UInt.self)
        }

        /// The descriptors of the image's classes; none for a layout that this file does not know.
        var classDescriptors: [ClassDescriptor] {
            guard Self.versions.contains(word(0)), let start = UnsafeRawPointer(bitPattern: word(8)) else { return [] }
            let recordSize = MemoryLayout<Int32>.size
            return (0..<Int(word(9)) / recordSize).compactMap { index in
                Self.descriptor(ofRecordAt: start + index * recordSize)
            }
        }

        /// Returns the class descriptor that a type record refers to.
        ///
        /// A type record is a relative pointer. Its two lowest bits give the kind of its target: 0
        /// for the descriptor, 1 for a pointer to the descriptor, 2 and 3 for objects of the
        /// Objective-C runtime.
        private static func descriptor(ofRecordAt record: UnsafeRawPointer) -> ClassDescriptor? {
            let value = record.load(as: Int32.self)
            let distance = Int(value & ~3)
            guard distance != 0 else { return nil }
            switch value & 3 {
            case 0: return ClassDescriptor(record + distance)
            case 1: return (record + distance).load(as: UnsafeRawPointer?.self).flatMap(ClassDescriptor.init)
            default: return nil
            }
        }
    }

    /// The compiler's description of one class, by offset in bytes:
    ///
    ///     0  flags: the kind in bits 0 to 4 (16 for a class),
    ///        bit 7 set for generic types and types inside of them
    ///     4  relative pointer to the context around the type
    ///     8  relative pointer to the name, which ends with a zero byte
    ///    12  relative pointer to the function that returns the metadata
    ///    16  relative pointer to the descriptions of the fields
    ///    20  relative pointer to the name of the superclass
    private struct ClassDescriptor {
        let address: UnsafeRawPointer

        private static let kindMask: UInt32 = 0x1f
        private static let classKind: UInt32 = 16
        private static let genericMask: UInt32 = 0x80

        /// nil for types that are not classes, and for generic ones: those need arguments to become
        /// a class.
        init?(_ address: UnsafeRawPointer) {
            let flags = address.load(as: UInt32.self)
            guard flags & Self.kindMask == Self.classKind, flags & Self.genericMask == 0 else { return nil }
            guard Self.target(ofPointerAt: address + 8) != nil else { return nil }
            self.address = address
        }

        private static func target(ofPointerAt pointer: UnsafeRawPointer) -> UnsafeRawPointer? {
            let distance = Int(pointer.load(as: Int32.self))
            return distance == 0 ? nil : pointer + distance
        }

        /// The class's own name.
        var name: String {
            Self.target(ofPointerAt: address + 8).map { String(cString: $0.assumingMemoryBound(to: CChar.self)) } ?? ""
        }

        /// Whether the class inherits from another.
        var hasSuperclass: Bool { Self.target(ofPointerAt: address + 20) != nil }

        /// Returns the class, which the first call makes ready for use.
        func makeClass() -> AnyClass? {
            guard let function = Self.target(ofPointerAt: address + 12) else { return nil }
            // The function takes a request in one word (0 asks for complete metadata, and waits for
            // it) and returns two: the metadata, then its state. The C convention takes and returns
            // such words in the same registers as Swift's.
            // Safe: `function` is the access function of a type without generic parameters, which
            // has no more parameters.
            typealias AccessFunction = @convention(c) (UInt) -> UnsafeRawPointer
            let metadata = unsafeBitCast(function, to: AccessFunction.self)(0)
            // Safe: a metatype of a class holds the class's metadata pointer, and the descriptor
            // says that it is a class.
            return unsafeBitCast(metadata, to: Any.Type.self) as? AnyClass
        }
    }
#endif
