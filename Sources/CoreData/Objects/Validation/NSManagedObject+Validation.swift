import Foundation

// Validation of an object against its entity's description.

extension NSManagedObject {
    /// Validates every property; calls an override of `validateValue(_:forKey:)` for each.
    ///
    /// Without such an override, a save leaves out attributes and to-many relationships that were
    /// not changed since they were read: to check them all would take as long as to write the row.
    final func validateProperties() throws {
        var errors: [any Error] = []
        let hasOverride = layout.objects.overridesValidateValue(Swift.type(of: self))
        if !hasOverride, layout.objects.validatedSlots.isEmpty { return }
        let isForSave = hasChanges && registry?.isValidatingSave == true
        if !isForSave, try !readForValidation() { return }
        for index in hasOverride ? layout.propertySlots.map(\.index) : layout.objects.validatedSlots {
            let slot = layout.slots[index]
            if slot.kind == .fetched { continue }
            do {
                if hasOverride, slot.kind != .composite {
                    try validateThroughOverride(slot)
                } else {
                    try validate(slot, isForSave: isForSave)
                }
            } catch {
                errors += ValidationErrors.flattened(error)
            }
        }
        try throwCombined(errors)
    }

    /// Loads the object if it is still a fault. False for an object whose row is gone: there is
    /// nothing to check.
    ///
    /// - Throws: errors of the store.
    private func readForValidation() throws -> Bool {
        if flags.contains(.fault) {
            guard let registry, try registry.load(self) else { return false }
        }
        return flags.isDisjoint(with: [.inaccessible, .invalid])
    }

    private func validateThroughOverride(_ slot: PropertySlot) throws {
        let before = objectValue(slot.index)
        var value = before.map { $0 as AnyObject }
        let original = value
        try validateValue(&value, forKey: slot.name)
        if value !== original {
            setObjectValue(value, slot: slot.index)
        }
    }

    /// Throws one error as it is, several as code 1560.
    final func throwCombined(_ errors: [any Error]) throws {
        if errors.isEmpty { return }
        if errors.count == 1 { throw errors[0] }
        throw ValidationErrors.combined(errors)
    }

    /// Checks the current value of one property.
    private func validate(_ slot: PropertySlot, isForSave: Bool) throws {
        switch slot.kind {
        case .toOne:
            if !slot.isOptional, currentValue(slot.index).isNull { throw missing(slot) }
        case .toMany, .orderedToMany:
            guard let relationship = slot.relationship else { return }
            if slot.isOptional, relationship.minCount == 0, relationship.maxCount == 0 { return }
            let state = extras?.toMany(slot.index)
            // An untouched to-many relationship was valid when it was saved.
            if isForSave, state == nil, committedRow != nil || flags.contains(.fault) { return }
            let count = toManyMembers(slot.index).count
            if !toManyState(slot.index).isLoaded, let failure = registry?.readFailure { throw failure }
            try validateCount(count, slot, relationship)
        case .fetched: return
        case .composite where slot.composite != nil: try validateComposite(slot, isForSave: isForSave)
        default:
            let rules = layout.objects.rules[slot.index]
            if slot.isOptional, rules.isEmpty { return }
            if isForSave, slot.index < layout.storedCount, committedRow != nil, pending?.has(slot.index) != true {
                return
            }
            let value = currentValue(slot.index)
            let isNotANumber = slot.index < layout.storedCount && value.isNotANumber
            if value.isNull || isNotANumber {
                if !slot.isOptional, !slot.isDerived { throw missing(slot, isNotANumber: isNotANumber) }
                return
            }
            if rules.isEmpty { return }
            try check(objectValue(slot.index), slot, rules)
        }
    }

    // MARK: Composite attributes

    private func validateComposite(_ slot: PropertySlot, isForSave: Bool) throws {
        guard let composite = slot.composite else { return }
        if isForSave, committedRow != nil, !composite.slots.contains(where: { pending?.has($0) == true }) { return }
        guard let value = compositeValue(composite) else {
            if !slot.isOptional, !composite.mayBeEmpty { throw missing(slot) }
            return
        }
        try check(value, slot, layout.objects.rules[slot.index])
        try throwCombined(elementErrors(slot, composite) { self.objectValue($0) })
    }

    /// Checks a dictionary as the value of a composite attribute.
    private func validate(_ object: Any, of slot: PropertySlot, _ composite: CompositeLayout) throws {
        let elements: [(slot: Int, value: AttributeValue)]
        do {
            elements = try layout.elementValues(of: object, composite)
        } catch {
            throw ValidationErrors.make(
                .managedObjectValidation, self, slot, object,
                "Unacceptable value for \(layout.name).\(slot.name): \(error.reason).",
                form: ValidationText.wrongKind(slot.name))
        }
        if elements.allSatisfy(\.value.isNull) {
            if !slot.isOptional, !composite.mayBeEmpty { throw missing(slot) }
            return
        }
        try check(object, slot, layout.objects.rules[slot.index])
        let values = Dictionary(elements.map { ($0.slot, $0.value) }, uniquingKeysWith: { first, _ in first })
        try throwCombined(
            elementErrors(slot, composite) { element in
                values[element].flatMap { PropertyValue($0).object(kind: self.layout.slots[element].kind) }
            })
    }

    /// The errors in the elements of a composite attribute that has a value. The errors are
    /// reported for the attribute; their texts name the elements.
    private func elementErrors(_ slot: PropertySlot, _ composite: CompositeLayout, _ value: (Int) -> Any?) -> [NSError]
    {
        var errors: [NSError] = []
        for part in composite.parts {
            switch part {
            case .element(_, let index):
                let element = layout.slots[index]
                guard let value = value(index) else {
                    if !element.isOptional { errors.append(missing(slot, element)) }
                    continue
                }
                do {
                    try check(value, slot, layout.objects.rules[element.index], element)
                } catch {
                    errors += ValidationErrors.flattened(error).map { $0 as NSError }
                }
            case .composite(_, let inner):
                if inner.slots.contains(where: { value($0) != nil }) {
                    errors += elementErrors(slot, inner, value)
                } else if !inner.isOptional, !inner.mayBeEmpty {
                    errors.append(
                        ValidationErrors.make(
                            .validationMissingMandatoryProperty, self, slot, nil,
                            "\(layout.name).\(inner.path) is required, but is nil in \(descriptionOfIdentity).",
                            form: ValidationText.missing(inner.path)))
                }
            }
        }
        return errors
    }

    private func validateCount(_ count: Int, _ slot: PropertySlot, _ relationship: NSRelationshipDescription) throws {
        // A to-many relationship is never nil: only the minimum count matters.
        if count == 0, slot.isOptional { return }
        if count < relationship.minCount {
            throw ValidationErrors.make(
                .validationRelationshipLacksMinimumCount, self, slot, nil,
                "\(layout.name).\(slot.name) has \(count) objects, but needs at least \(relationship.minCount).",
                form: ValidationText.tooFew(slot.name, least: relationship.minCount))
        }
        if relationship.maxCount > 0, count > relationship.maxCount {
            throw ValidationErrors.make(
                .validationRelationshipExceedsMaximumCount, self, slot, nil,
                "\(layout.name).\(slot.name) has \(count) objects, but may have at most \(relationship.maxCount).",
                form: ValidationText.tooMany(slot.name, most: relationship.maxCount))
        }
    }

    /// - Parameter element: the missing element of a composite attribute.
    private func missing(_ slot: PropertySlot, _ element: PropertySlot? = nil, isNotANumber: Bool = false) -> NSError {
        ValidationErrors.make(
            .validationMissingMandatoryProperty, self, slot, nil,
            "\(layout.name).\((element ?? slot).name) is required, but is "
                + (isNotANumber ? "not a number (NaN), which stores keep as nil, " : "nil ")
                + "in \(descriptionOfIdentity).",
            form: ValidationText.missing((element ?? slot).name))
    }

    /// - Parameter element: the checked element of a composite attribute.
    private func check(
        _ value: Any?, _ slot: PropertySlot, _ rules: [ValidationRule], _ element: PropertySlot? = nil
    ) throws {
        var errors: [NSError] = []
        for rule in rules where !rule.checked.evaluate(with: value) {
            errors.append(
                ValidationErrors.make(
                    rule.code, self, slot, value,
                    rule.message
                        ?? "\(layout.name).\((element ?? slot).name) must satisfy \(rule.checked.predicateFormat), "
                        + "but is \(value ?? "nil").",
                    form: ValidationText.violated(rule, (element ?? slot).name),
                    extra: [NSValidationPredicateErrorKey: rule.predicate]))
        }
        try throwCombined(errors)
    }

    /// The default checks of `validateValue(_:forKey:)`: type, presence, rules.
    final func validateAgainstDescription(_ value: AnyObject?, forKey key: String) throws {
        guard let index = layout.slotByName[key] else { return }
        let slot = layout.slots[index]
        let object: Any? = value is NSNull ? nil : value
        switch slot.kind {
        case .fetched: return
        case .toMany, .orderedToMany:
            guard let relationship = slot.relationship else { return }
            guard let members = RelationshipValues.objects(in: object) else { throw unacceptable(object, slot) }
            try validateCount(members.count, slot, relationship)
        default:
            guard let object else {
                if !slot.isOptional, !slot.isDerived { throw missing(slot) }
                return
            }
            if let composite = slot.composite { return try validate(object, of: slot, composite) }
            // Numbers are converted as NSNumber does; a number for a text is refused.
            guard let converted = PropertyValue(object, kind: slot.kind), slot.kind != .string || object is String
            else {
                throw unacceptable(object, slot)
            }
            if converted.isNotANumber, slot.index < layout.storedCount {
                if !slot.isOptional, !slot.isDerived { throw missing(slot, isNotANumber: true) }
                return
            }
            try check(object, slot, layout.objects.rules[slot.index])
        }
    }

    private func unacceptable(_ value: Any?, _ slot: PropertySlot) -> NSError {
        ValidationErrors.make(
            .managedObjectValidation, self, slot, value, wrongType(value, slot),
            form: ValidationText.wrongKind(slot.name))
    }

    /// Violations of the deny rule.
    final func validationErrorsForDelete() -> [NSError] {
        var errors: [NSError] = []
        for index in layout.relationshipSlots {
            let slot = layout.slots[index]
            if slot.deletion.isDenied, destinations(through: slot).contains(where: { !$0.isDeleted }) {
                errors.append(
                    ValidationErrors.make(
                        .validationRelationshipDeniedDelete, self, slot, objectValue(slot.index),
                        "\(layout.name) \(descriptionOfIdentity) cannot be deleted while \(slot.name) is not empty.",
                        form: ValidationText.denied(slot.name)))
            }
        }
        return errors
    }
}

/// A condition for a property's value, with the code and message of a violation.
struct ValidationRule {
    /// The predicate in the model.
    let predicate: NSPredicate
    /// The same condition in the form that is evaluated and shown in messages.
    let checked: NSPredicate
    let code: CocoaError.Code
    /// The model's own warning text; nil if the warning is an error code.
    let message: String?
}

extension ValidationRule {
    /// A property's validation predicates with their codes.
    static func rules(of property: NSPropertyDescription) -> [ValidationRule] {
        let predicates = property.validationPredicates
        if predicates.isEmpty { return [] }
        let warnings = property.validationWarnings
        let isDate = (property as? NSAttributeDescription)?.attributeType == .dateAttributeType
        return predicates.enumerated().map { index, predicate in
            let warning = index < warnings.count ? warnings[index] : 0
            let code = (warning as? NSNumber)?.intValue ?? (warning as? Int) ?? 0
            return ValidationRule(
                predicate: predicate,
                checked: (isDate ? (predicate as? NSComparisonPredicate)?.comparingDates : nil) ?? predicate,
                code: code == 0 ? .managedObjectValidation : CocoaError.Code(rawValue: code),
                message: warning as? String)
        }
    }
}

/// Validation errors with Core Data's user info.
enum ValidationErrors {
    /// - Parameters:
    ///   - message: The text for a log.
    ///   - form: The failure reason, for the user of a form.
    static func make(
        _ code: CocoaError.Code, _ object: NSManagedObject, _ slot: PropertySlot, _ value: Any?, _ message: String,
        form: String,
        recovery: String? = nil, extra: [String: Any] = [:]
    ) -> NSError {
        var userInfo: [String: Any] = [
            NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: slot.name,
            NSLocalizedFailureReasonErrorKey: form,
        ]
        if let value { userInfo[NSValidationValueErrorKey] = value }
        userInfo.merge(extra) { $1 }
        return CoreDataErrors.make(code, message, recovery: recovery, userInfo: userInfo)
    }

    /// One error for several: code 1560 with the details.
    static func combined(_ errors: [any Error]) -> NSError {
        let details = errors.map(detail)
        return CoreDataErrors.make(
            .validationMultipleErrors,
            "\(details.count) validation errors: " + details.map(\.localizedDescription).joined(separator: " "),
            userInfo: [
                NSDetailedErrorsKey: details,
                NSLocalizedFailureReasonErrorKey: details.map { $0.localizedFailureReason ?? $0.localizedDescription }
                    .joined(
                        separator: "\n"),
            ])
    }

    /// Returns an error as one of several. Without the Objective-C runtime, an `NSError` made from
    /// a Swift error cannot be cast back to it, so the Swift error is kept as the underlying error.
    private static func detail(_ error: any Error) -> NSError {
        let detail = error as NSError
        if type(of: error) is NSError.Type || error is CocoaError { return detail }
        var userInfo = detail.userInfo
        if userInfo[NSUnderlyingErrorKey] == nil { userInfo[NSUnderlyingErrorKey] = error }
        if userInfo[NSLocalizedDescriptionKey] == nil {
            userInfo[NSLocalizedDescriptionKey] = error.localizedDescription
        }
        return CoreDataError(domain: detail.domain, code: detail.code, userInfo: userInfo)
    }

    /// The single errors of an error that may be a combined one.
    static func flattened(_ error: any Error) -> [any Error] {
        let several = error as NSError
        if several.code == CocoaError.Code.validationMultipleErrors.rawValue,
            let details = several.userInfo[NSDetailedErrorsKey] as? [NSError]
        {
            return details.flatMap(flattened)
        }
        return [error]
    }
}

/// A pointer to a value that a method may replace: what `AutoreleasingUnsafeMutablePointer` is
/// where there is an Objective-C runtime, so that overrides of `validateValue(_:forKey:)` read the
/// same.
public typealias AutoreleasingUnsafeMutablePointer<Pointee> = UnsafeMutablePointer<Pointee>
