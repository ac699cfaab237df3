import Identity

extension AuditRow {
  /// Returns the old value of a field, or nil if the row doesn't have the field.
  func old(_ field: AuditFieldName) -> AuditValue? { changes.first { $0.field == field }?.old }

  /// Returns the new value of a field, or nil if the row doesn't have the field.
  func new(_ field: AuditFieldName) -> AuditValue? { changes.first { $0.field == field }?.new }

  /// The names of the changed fields, in order.
  var fields: [AuditFieldName] { changes.compactMap(\.field) }

  /// Returns whether the old value includes a factor.
  func hadFactor(_ id: String) -> Bool { Self.factors(old(.factors)).contains { $0.id == id } }

  /// Returns whether the new value includes a factor.
  func hasFactor(_ id: String) -> Bool { Self.factors(new(.factors)).contains { $0.id == id } }

  /// Returns the second factors in a value.
  static func factors(_ value: AuditValue?) -> [AuditFactor] {
    guard case .factors(let factors) = value else { return [] }
    return factors
  }
}

extension AuditFilter {
  /// Every combination of filters, with values that match some entries.
  static func all(of instance: Instance) -> [AuditFilter] {
    let objects: [(AuditResource?, String?)] = [
      (nil, nil), (.policy, nil), (nil, "acme-app"), (.policy, "acme-app"),
    ]
    let actors: [(Actor.Kind?, String?)] = [
      (nil, nil), (.administrator, nil), (.administrator, "boss"),
    ]
    let actions: [AuditFilter.Action?] = [
      nil, .any([.policyChange, .policyWiden, .policySignOff]), .one("policy.change"),
      .any([.factorEnroll, .factorSendLink]),
    ]
    var filters: [AuditFilter] = []
    for pool in [nil, instance.acme] {
      for (kind, id) in objects {
        for (actorKind, actorID) in actors {
          for action in actions {
            for isTimed in [false, true] {
              for field in [nil, .adjacentIntervals, .factors] as [AuditFieldName?] {
                var filter = AuditFilter(pool: pool, object: kind, objectID: id)
                (filter.actor, filter.actorID) = (actorKind, actorID)
                filter.action = action
                filter.fieldName = field?.storedName
                if isTimed {
                  filter.from = instance.now.advanced(bySeconds: -3600)
                  filter.until = instance.now.advanced(bySeconds: 3600)
                }
                filters.append(filter)
              }
            }
          }
        }
      }
    }
    return filters
  }
}
