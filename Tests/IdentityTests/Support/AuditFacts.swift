import Identity

extension AuditRow {
  /// The value of a field before; nil if the row says nothing of it.
  func old(_ field: AuditFieldName) -> AuditValue? { changes.first { $0.field == field }?.old }

  /// The value of a field after; nil if the row says nothing of it.
  func new(_ field: AuditFieldName) -> AuditValue? { changes.first { $0.field == field }?.new }

  /// The names of the fields, in order.
  var fields: [AuditFieldName] { changes.compactMap(\.field) }

  /// Whether the row shows a factor before.
  func hadFactor(_ id: String) -> Bool { Self.factors(old(.factors)).contains { $0.id == id } }

  /// Whether the row shows a factor after.
  func hasFactor(_ id: String) -> Bool { Self.factors(new(.factors)).contains { $0.id == id } }

  /// The second factors of a value.
  static func factors(_ value: AuditValue?) -> [AuditFactor] {
    guard case .factors(let factors) = value else { return [] }
    return factors
  }
}
