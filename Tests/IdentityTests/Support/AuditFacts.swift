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
