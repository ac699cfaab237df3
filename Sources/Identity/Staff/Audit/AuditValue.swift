import Database
import Text

/// A typed value of a field in an audit entry.
///
/// Text is compared byte for byte.
public enum AuditValue: Sendable {
  /// No value, where there could be one.
  case absent
  case text(String)
  case number(Int)
  case flag(Bool)
  case instant(Instant)
  case day(Day)
  /// A period, in seconds.
  case duration(Int)
  case list([String])
  /// A stable identifier, such as the raw value of an enum that belongs to the field.
  case code(String)
  /// A secret, which is set but never shown.
  case secret
  case factors([AuditFactor])
}

public struct AuditFactor: Sendable {
  public let id: String
  public let kind: Factor.Kind
  public let displayName: String?
  public let phoneNumber: String?

  package init(id: String, kind: Factor.Kind, displayName: String?, phoneNumber: String?) {
    (self.id, self.kind) = (id, kind)
    (self.displayName, self.phoneNumber) = (displayName, phoneNumber)
  }

  init(_ factor: Factor) {
    self.init(
      id: factor.id.text, kind: factor.kind, displayName: factor.displayName,
      phoneNumber: factor.phoneNumber)
  }
}

extension AuditValue {
  static func optional(_ text: String?) -> AuditValue { text.map { .text($0) } ?? .absent }

  static func optional(_ number: Int?) -> AuditValue { number.map { .number($0) } ?? .absent }

  static func optional(_ moment: Instant?) -> AuditValue { moment.map { .instant($0) } ?? .absent }

  static func optional(_ list: [String]) -> AuditValue { list.isEmpty ? .absent : .list(list) }

  static func of(_ factors: [Factor]) -> AuditValue {
    factors.isEmpty ? .absent : .factors(factors.map { AuditFactor($0) })
  }
}

extension AuditValue {
  /// Creates a value for roles: the role, and after a space the project or the project and tenant.
  static func of(_ grants: [Grant]) -> AuditValue {
    .optional(
      grants.map { grant in
        let place = [grant.project?.text, grant.tenant?.text].compactMap { $0 }
        return ([grant.role.rawValue] + (place.isEmpty ? [] : [place.joined(separator: "/")]))
          .joined(separator: " ")
      })
  }
}

// MARK: - Storage

extension AuditValue {
  /// The kinds of values; the raw value is the stored name.
  private enum Kind: String {
    case absent = "none"
    case text, number, flag, instant, day, duration, list, code, secret, factors
  }

  /// The stored name of the value's kind, and the value as text: times in microseconds, periods in
  /// seconds, lists as lines.
  var stored: (kind: String, text: String?) {
    let (kind, text): (Kind, String?) =
      switch self {
      case .absent: (.absent, nil)
      case .text(let text): (.text, text)
      case .number(let number): (.number, String(number))
      case .flag(let flag): (.flag, flag ? "true" : "false")
      case .instant(let moment): (.instant, String(moment.microseconds))
      case .day(let day): (.day, day.description)
      case .duration(let seconds): (.duration, String(seconds))
      case .list(let list): (.list, Self.lines(list))
      case .code(let code): (.code, code)
      case .secret: (.secret, nil)
      case .factors(let factors):
        (
          .factors,
          Self.lines(
            factors.flatMap { factor in
              [
                factor.id, factor.kind.rawValue, factor.displayName.map { "=" + $0 } ?? "",
                factor.phoneNumber.map { "=" + $0 } ?? "",
              ]
            })
        )
      }
    return (kind.rawValue, text)
  }

  init?(kind: String, text: String?) {
    guard let kind = Kind(rawValue: kind) else { return nil }
    let text = text ?? ""
    switch kind {
    case .absent: self = .absent
    case .text: self = .text(text)
    case .number:
      guard let number = Int(text) else { return nil }
      self = .number(number)
    case .flag: self = .flag(text == "true")
    case .instant:
      guard let microseconds = Int64(text) else { return nil }
      self = .instant(Instant(microseconds: microseconds))
    case .day:
      guard let day = Day(text) else { return nil }
      self = .day(day)
    case .duration:
      guard let seconds = Int(text) else { return nil }
      self = .duration(seconds)
    case .list: self = .list(Self.parts(text))
    case .code: self = .code(text)
    case .secret: self = .secret
    case .factors:
      let parts = Self.parts(text)
      self = .factors(
        stride(from: 0, to: parts.count - 3, by: 4).compactMap { start in
          guard let kind = Factor.Kind(rawValue: parts[start + 1]) else { return nil }
          func optional(_ text: String) -> String? { text.isEmpty ? nil : String(text.dropFirst()) }
          return AuditFactor(
            id: parts[start], kind: kind, displayName: optional(parts[start + 2]),
            phoneNumber: optional(parts[start + 3]))
        })
    }
  }

  /// Joins texts as lines; line feeds and backslashes within a text are escaped.
  private static func lines(_ list: [String]) -> String {
    var bytes: [UInt8] = []
    for text in list {
      for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "\\"): bytes += [byte, byte]
        case UInt8(ascii: "\n"): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
        default: bytes.append(byte)
        }
      }
      bytes.append(UInt8(ascii: "\n"))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func parts(_ text: String) -> [String] {
    var parts: [String] = []
    var part: [UInt8] = []
    var isEscaped = false
    for byte in text.utf8 {
      switch byte {
      case _ where isEscaped:
        part.append(byte == UInt8(ascii: "n") ? UInt8(ascii: "\n") : byte)
        isEscaped = false
      case UInt8(ascii: "\\"): isEscaped = true
      case UInt8(ascii: "\n"):
        parts.append(String(decoding: part, as: UTF8.self))
        part = []
      default: part.append(byte)
      }
    }
    return parts
  }
}

// MARK: - Comparison

extension AuditValue: Hashable {
  public static func == (left: AuditValue, right: AuditValue) -> Bool {
    // Each change of a pool compares all its settings, and most are of these kinds.
    switch (left, right) {
    case (.flag(let one), .flag(let other)): return one == other
    case (.number(let one), .number(let other)): return one == other
    case (.text(let one), .text(let other)): return one.isSameBytes(as: other)
    default: break
    }
    let (left, right) = (left.stored, right.stored)
    guard left.kind == right.kind else { return false }
    guard let text = left.text, let other = right.text else {
      return left.text == nil && right.text == nil
    }
    return text.isSameBytes(as: other)
  }

  public func hash(into hasher: inout Hasher) {
    let stored = stored
    hasher.combine(stored.kind)
    for byte in (stored.text ?? "").utf8 { hasher.combine(byte) }
  }
}

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
