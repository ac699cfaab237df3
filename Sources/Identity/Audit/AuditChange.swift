import Database
import Text

/// A field in an audit entry, with its values before and after.
public struct AuditChange: Sendable, Hashable {
  /// The field; nil if a later version of the program stored it.
  public let field: AuditFieldName?
  public let fieldName: String
  /// The value before; nil if the entry doesn't compare, or only describes what is new.
  public let old: AuditValue?
  /// The value after; nil if the entry doesn't compare, or only describes what was lost.
  public let new: AuditValue?

  public init(_ field: AuditFieldName, from old: AuditValue? = nil, to new: AuditValue? = nil) {
    (self.field, fieldName) = (field, field.storedName)
    (self.old, self.new) = (old, new)
  }

  init(stored row: inout Row) throws {
    func value(_ row: inout Row) throws -> AuditValue? {
      let (kind, text): (String?, String?) = (try row.next(), try row.next())
      return kind.map { AuditValue(kind: $0, text: text) ?? .text(text ?? "") }
    }
    fieldName = try row.next()
    field = AuditFieldName(stored: fieldName)
    old = try value(&row)
    new = try value(&row)
  }

  static let columns: SQL = "field, old_kind, old_value, new_kind, new_value"

  /// Returns the fields whose values differ.
  ///
  /// A field that only one of the lists has is a change from or to no value. Without old fields, as
  /// for something new, every field with a value has a new value only.
  static func between(_ old: [AuditField]?, _ new: [AuditField]) -> [AuditChange] {
    guard var old else {
      return new.filter { $0.value != .absent }.map { AuditChange($0.name, to: $0.value) }
    }
    var changes = new.compactMap { field -> AuditChange? in
      // Usually both lists have the same fields in the same order, so the first one matches.
      let index = old.firstIndex { $0.name == field.name }
      let before = index.map { old.remove(at: $0) } ?? AuditField(field.name, .absent)
      return before.isSame(as: field)
        ? nil : AuditChange(field.name, from: before.value, to: field.value)
    }
    changes += old.filter { $0.value != .absent }.map { field in
      AuditChange(field.name, from: field.value, to: .absent)
    }
    return changes
  }
}

/// A field of a resource when it's compared: its value, and the parts of it that the audit log
/// doesn't show.
struct AuditField {
  let name: AuditFieldName
  let value: AuditValue
  /// Text is compared byte for byte, and nil differs from any text.
  private let hidden: [String?]

  init(_ name: AuditFieldName, _ value: AuditValue, hidden: [String?] = []) {
    (self.name, self.value, self.hidden) = (name, value, hidden)
  }

  func isSame(as other: AuditField) -> Bool {
    value == other.value && hidden.count == other.hidden.count
      && zip(hidden, other.hidden).allSatisfy { left, right in
        guard let left, let right else { return left == nil && right == nil }
        return left.isSameBytes(as: right)
      }
  }
}
