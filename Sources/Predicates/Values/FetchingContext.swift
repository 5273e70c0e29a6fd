/// An object that carries out the fetches of `FETCH(request, context, countOnly)`.
package protocol FetchingContext: AnyObject {
    /// Returns the result of a fetch request; nil if it cannot be carried out.
    func value(ofFetch request: Any, countOnly: Bool) -> Any?
}
