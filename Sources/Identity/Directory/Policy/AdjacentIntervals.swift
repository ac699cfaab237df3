import JSON

/// How many adjacent intervals a TOTP configuration accepts on each side, as far as it's known.
public enum AdjacentIntervals: Hashable, Sendable {
  /// No number is set, which means 5 and differs from 0.
  case standard
  /// 0 to 10.
  case number(Int)
  /// 0 or the default: the server of a connected pool doesn't say which.
  case unsaid

  /// Creates the intervals of a number; nil for none.
  public init(_ number: Int?) { self = number.map { .number($0) } ?? .standard }

  /// The number that's set; nil for none, and if it isn't known.
  public var count: Int? { if case .number(let count) = self { count } else { nil } }

  /// Reads the column `totp_intervals`, which is -1 for ``unsaid``.
  init(stored: Int?) { self = stored == -1 ? .unsaid : AdjacentIntervals(stored) }

  var stored: Int? { self == .unsaid ? -1 : count }

  /// ``unsaid`` in files.
  public static let unsaidText = "0 or default"

  var json: JSON {
    self == .unsaid ? .string(Self.unsaidText) : count.map { .number(JSON.Number($0)) } ?? .null
  }

  /// Reads a value of the audit log, which is absent without a TOTP configuration; nil for another.
  init?(audited value: AuditValue?) {
    switch value {
    case .absent, .code("default"): self = .standard
    case .code("unsaid"): self = .unsaid
    case .number(let number): self = .number(number)
    default: return nil
    }
  }

  var auditValue: AuditValue {
    self == .unsaid ? .code("unsaid") : count.map { .number($0) } ?? .code("default")
  }
}
