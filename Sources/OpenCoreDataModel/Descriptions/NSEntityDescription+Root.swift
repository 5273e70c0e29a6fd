extension NSEntityDescription {
    /// The root of the entity's hierarchy: the entity itself if it has no superentity.
    ///
    /// Cost: O(depth of the hierarchy).
    package final var rootEntity: NSEntityDescription {
        var root = self
        while let parent = root.superentity { root = parent }
        return root
    }
}
