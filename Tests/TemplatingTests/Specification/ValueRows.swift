@testable import Templating

/// Rows of dynamic data, so that examples can be bound without a model type for each.
final class ValueRows: Rows {
  private let rows: [[String: Value]]
  private let shape: Shape

  /// Rows of a record, or of a list of records; nil for anything else.
  init?(_ value: Value) {
    switch value {
    case .record(let members): rows = [members]
    case .list(let values):
      let records = values.compactMap { if case .record(let members) = $0 { members } else { nil } }
      guard records.count == values.count else { return nil }
      rows = records
    default: return nil
    }
    shape = Self.shape(of: rows)
    super.init(count: rows.count)
  }

  /// The combined shape of all rows.
  static func shape(of rows: [[String: Value]]) -> Shape {
    let all = rows.reduce(into: [:]) { $0.merge($1) { one, _ in one } }
    let known = all.sorted { $0.key < $1.key }
      .compactMap { name, value in kind(of: value).map { (name: name, kind: $0) } }
    return Shape(type: Value.self, names: known.map(\.name), kinds: known.map(\.kind))
  }

  var ownShape: Shape { shape }

  private static func kind(of value: Value) -> Kind? {
    switch value {
    case .null, .text: return .text
    case .number: return .number
    case .bool: return .flag
    case .markup: return .markup
    case .record(let members): return .object { shape(of: [members]) }
    case .list(let values):
      if let rows = ValueRows(value) {
        let shape = rows.shape
        return .list { shape }
      }
      return texts(values) == nil ? nil : .texts
    }
  }

  private static func texts(_ values: [Value]) -> [String]? {
    let texts = values.compactMap { value -> String? in
      switch value {
      case .text(let text): text
      case .number(let number): String(number)
      default: nil
      }
    }
    return texts.count == values.count ? texts : nil
  }

  override func read(_ row: Int, into slots: inout [Slot]) {
    for name in shape.names {
      slots.append(slot(of: rows[row][name] ?? .null))
    }
  }

  private func slot(of value: Value) -> Slot {
    switch value {
    case .null: .nothing
    case .bool(let flag): .flag(flag)
    case .text(let text): .text(text)
    case .number(let number): .number(number)
    case .markup(let markup): .markup(markup)
    case .list(let values):
      (ValueRows(value) ?? Self.texts(values).map { TextRows($0.map(Slot.text)) })
        .map(Slot.rows) ?? .nothing
    case .record: ValueRows(value).map(Slot.rows) ?? .nothing
    }
  }
}
