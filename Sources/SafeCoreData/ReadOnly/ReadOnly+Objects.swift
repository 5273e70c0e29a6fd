// Comparisons of views with objects, for `#Predicate`s: `$0.author == view`. A predicate keeps the
// ID of the object that a view shows.

extension ReadOnly: PredicateIdentifiable {
    public var _predicateIdentity: (any Hashable & Sendable)? { id }
}

extension Optional {
    /// Whether a view shows an object. Nil equals nil.
    @_disfavoredOverload
    public static func == <Object>(object: Object?, view: Wrapped?) -> Bool where Wrapped == ReadOnly<Object> {
        object === view?.object
    }

    /// Whether a view does not show an object.
    @_disfavoredOverload
    public static func != <Object>(object: Object?, view: Wrapped?) -> Bool where Wrapped == ReadOnly<Object> {
        object !== view?.object
    }

    /// Whether a view shows an object. Nil equals nil.
    @_disfavoredOverload
    public static func == <Object>(view: Wrapped?, object: Object?) -> Bool where Wrapped == ReadOnly<Object> {
        object === view?.object
    }

    /// Whether a view does not show an object.
    @_disfavoredOverload
    public static func != <Object>(view: Wrapped?, object: Object?) -> Bool where Wrapped == ReadOnly<Object> {
        object !== view?.object
    }
}

extension Sequence {
    /// Whether one of the views shows an object; never true for nil.
    @_disfavoredOverload
    public func contains<Object>(_ object: Object?) -> Bool where Element == ReadOnly<Object> {
        object.map { object in contains { $0.object === object } } ?? false
    }
}
