import CoreData

// Saves of batches of rows, which can go on after a stop.
extension StoreImport {
    /// Writes rows in batches, then the references to rows that came later.
    ///
    /// A row waits for the destinations of its required relationships; rows that wait for each
    /// other are written together.
    ///
    /// - Returns: false if refused rows stopped the import.
    func writeBatches() throws -> Bool {
        var waiting = Int.max
        while case let now = plan.count(of: .pending), now > 0 {
            let isStuck = now == waiting
            waiting = now
            if try !writePending(together: isStuck) { return false }
        }
        if try !completeReferences() { return false }
        setProgress(nil)
        try context.save()
        return true
    }

    private func writePending(together: Bool) throws -> Bool {
        try forEachBatch("importing", of: .pending, size: together ? Int.max : options.batchSize ?? Int.max) { batch in
            var rows = try isResumed ? withoutSaved(batch) : batch
            while true {
                let ready = together ? rows : readyRows(rows)
                if ready.isEmpty { return true }
                for row in ready { _ = object(of: row.number) }
                for row in ready { try fill(row, attributes: true) }
                if try finishSave() { break }
                reset()
                for row in ready where plan.rows[row.number].state == .incomplete {
                    plan.set(.pending, of: row.number)
                }
                if hasToStop { return false }
                rows.removeAll { plan.rows[$0.number].state == .refused }
            }
            try options.afterBatch()
            return true
        }
    }

    /// Sets the references of rows that were written before their destinations.
    private func completeReferences() throws -> Bool {
        try forEachBatch("setting references", of: .incomplete, size: options.batchSize ?? Int.max) { batch in
            for row in batch { try fill(row, attributes: false) }
            if try !finishSave() {
                reset()
                return !hasToStop
            }
            for row in batch { plan.set(.written, of: row.number) }
            try options.afterBatch()
            return true
        }
    }

    /// Passes the rows in a state to a function, as many at once as a batch has.
    ///
    /// - Returns: false as soon as the function does.
    private func forEachBatch(
        _ label: String, of state: ImportPlan.State, size: Int, _ body: ([ImportRow]) throws -> Bool
    ) throws -> Bool {
        var batch: [ImportRow] = []
        var isGoing = true
        try forEachKnownRow(label) { row in
            guard isGoing, plan.rows[row.number].state == state else { return }
            batch.append(row)
            if batch.count < size { return }
            isGoing = try body(batch)
            batch = []
        }
        if isGoing, !batch.isEmpty { isGoing = try body(batch) }
        return isGoing
    }

    /// Returns the rows whose required destinations are there, or come with them.
    private func readyRows(_ rows: [ImportRow]) -> [ImportRow] {
        var ready = rows
        while true {
            let numbers = Set(ready.map(\.number))
            let next = ready.filter { row in
                requiredRows(of: row).allSatisfy { numbers.contains($0) || isAvailable($0) }
            }
            if next.count == ready.count { return ready }
            ready = next
        }
    }

    private func requiredRows(of row: ImportRow) -> [Int] {
        guard case .success(let content) = row.content, plan.rows[row.number].isNew else { return [] }
        return content.members.flatMap { member -> [Int] in
            guard case .relationship(let relationship)? = content.entity.properties[member.key],
                relationship.needsObjects, let texts = try? schema.references(member.value, relationship)
            else { return [] }
            return texts.compactMap {
                if case .row(let number) = reference($0, relationship) { return number }
                return nil
            }
        }
    }

    /// Returns the rows of a batch that were not saved before the import was stopped. Those that
    /// were get their references once more.
    private func withoutSaved(_ batch: [ImportRow]) throws -> [ImportRow] {
        var missing: [ImportRow] = []
        for entity in schema.entities {
            let rows = batch.filter { self.entity(of: $0.number).index == entity.index }
            let new = rows.filter { plan.rows[$0.number].isNew }
            missing += rows.filter { !plan.rows[$0.number].isNew }
            if new.isEmpty { continue }
            let request = NSFetchRequest<NSManagedObjectID>(entityName: entity.name)
            request.resultType = .managedObjectIDResultType
            request.predicate = NSPredicate(format: "SELF IN %@", new.compactMap { id(of: $0.number) })
            let found = Set(try context.fetch(request).compactMap { ObjectName($0).key })
            for row in new {
                if found.contains(plan.rows[row.number].target) {
                    plan.set(.incomplete, of: row.number)
                } else {
                    missing.append(row)
                }
            }
        }
        return missing.sorted { $0.number < $1.number }
    }
}
