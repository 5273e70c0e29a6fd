import Foundation

/// An error that says why a model could not be read: what is wrong, where, and what to do.
///
/// Bridges to an `NSError` in `NSCocoaErrorDomain`: `NSFileReadNoSuchFileError` when there is no
/// file, otherwise `NSFileReadCorruptFileError`.
///
/// ```swift
/// do {
///     model = try NSManagedObjectModel(reading: url)
/// } catch let error as ModelReadingError where error.kind == .missing {
///     print(error.problem, error.advice)
/// }
/// ```
public struct ModelReadingError: Error, Sendable, Hashable {
    /// The kinds of failure.
    public enum Kind: Sendable, Hashable {
        /// There is no file or folder at the given place.
        case missing
        /// The file is not what its name says, is cut off or damaged.
        case damaged
        /// The file can be read, but it does not describe a usable model.
        case inconsistent
    }

    /// The kind of failure.
    public let kind: Kind
    /// The problem, as a sentence.
    public let problem: String
    /// The advice for correcting the problem, as a sentence.
    public let advice: String
    /// The file that was read, if it was one.
    public package(set) var file: String?
    /// The line in a text file, from 1.
    public internal(set) var line: Int?
    /// The entity concerned.
    public internal(set) var entity: String?
    /// The property concerned.
    public internal(set) var property: String?

    init(
        _ kind: Kind, _ problem: String, advice: String, file: String? = nil, line: Int? = nil, entity: String? = nil,
        property: String? = nil
    ) {
        self.kind = kind
        self.problem = problem
        self.advice = advice
        self.file = file
        self.line = line
        self.entity = entity
        self.property = property
    }

    /// Returns the error for an archive that does not follow its own format.
    package static func damagedArchive(_ problem: String) -> ModelReadingError {
        ModelReadingError(
            .damaged, problem, advice: "Compile the model again, or use an intact copy of the file or store.")
    }
}

extension ModelReadingError {
    /// The greatest number of superentities that an entity of a file may have; far more than any
    /// has.
    static let depthLimit = 200

    /// Returns the error for a mapping model without one of its models.
    package static func missingModel(_ path: String) -> ModelReadingError {
        ModelReadingError(
            .missing, "The model '\(path)', which the mapping model was made for, is neither beside it nor in it.",
            advice: "Copy the model's file along, or use the compiled mapping model (.cdm).")
    }

    /// Returns the error for a part of an archive that can be neither read nor ignored.
    package static func unknownPart(_ problem: String) -> ModelReadingError {
        ModelReadingError(
            .inconsistent, problem,
            advice: "It may come from a newer framework: use the file of the model that it was made from.")
    }
}

extension ModelReadingError: CustomStringConvertible, LocalizedError, CustomNSError {
    /// File, line, entity and property, the problem and the advice in one line.
    public var description: String {
        var place: [String] = []
        if let file { place.append(line.map { "\(file):\($0)" } ?? file) }
        if let entity { place.append(property.map { "\(entity).\($0)" } ?? entity) }
        let prefix = place.isEmpty ? "" : place.joined(separator: ": ") + ": "
        return "\(prefix)\(problem) \(advice)"
    }

    /// The same as `description`.
    public var errorDescription: String? { description }
    /// The same as `advice`.
    public var recoverySuggestion: String? { advice }
    /// `NSCocoaErrorDomain`.
    public static var errorDomain: String { NSCocoaErrorDomain }
    /// The code of the kind in `NSCocoaErrorDomain`.
    public var errorCode: Int {
        kind == .missing ? CocoaError.fileReadNoSuchFile.rawValue : CocoaError.fileReadCorruptFile.rawValue
    }
    /// The file's path and the texts.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: description, NSLocalizedRecoverySuggestionErrorKey: advice,
        ]
        if let file { info[NSFilePathErrorKey] = file }
        return info
    }
}
