/// What stands in predicates for some entities of a model, as for those whose objects are of a class.
protocol EntityCondition {
    func includes(_ entity: NSEntityDescription) -> Bool
}
