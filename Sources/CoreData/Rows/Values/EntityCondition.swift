/// A value in predicates that represents some entities of a model, such as those whose objects are
/// of one class.
protocol EntityCondition {
    func includes(_ entity: NSEntityDescription) -> Bool
}
