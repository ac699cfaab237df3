/// One name of a ``ViewModel`` and how to read what it stands for.
public struct Key<Model>: Sendable {
  let name: String
  let kind: Kind
  let read: @Sendable (Model) -> Slot

  /// A text, escaped where it is inserted; nil is the empty text.
  ///
  /// A section over it is shown when it is not empty; `{{.}}` in there is the text.
  public static func text(
    _ name: String, _ get: @escaping @Sendable (Model) -> String?
  ) -> Key {
    Key(name: name, kind: .text) { get($0).map(Slot.text) ?? .nothing }
  }

  /// A whole number, inserted in decimal digits; nil is the empty text.
  ///
  /// A section over it is shown when it is not zero; `{{.}}` in there is the number.
  public static func number(
    _ name: String, _ get: @escaping @Sendable (Model) -> Int?
  ) -> Key {
    Key(name: name, kind: .number) { get($0).map(Slot.number) ?? .nothing }
  }

  /// A condition for sections; inserted, it reads `true` or `false`.
  public static func flag(
    _ name: String, _ get: @escaping @Sendable (Model) -> Bool
  ) -> Key {
    Key(name: name, kind: .flag) { .flag(get($0)) }
  }

  /// HTML that `{{name}}` and `{{{name}}}` insert as it stands; nil is the empty text.
  ///
  /// A section over it is shown when it is not empty.
  public static func markup(
    _ name: String, _ get: @escaping @Sendable (Model) -> Markup?
  ) -> Key {
    Key(name: name, kind: .markup) { get($0).map(Slot.markup) ?? .nothing }
  }

  /// Texts that a section renders one after the other, each as `{{.}}`.
  public static func texts(
    _ name: String, _ get: @escaping @Sendable (Model) -> [String]
  ) -> Key {
    Key(name: name, kind: .texts) { .rows(TextRows(get($0))) }
  }

  /// Models that a section renders one after the other, with their keys in reach.
  public static func list<Row: ViewModel>(
    _ name: String, _ get: @escaping @Sendable (Model) -> [Row]
  ) -> Key {
    Key(name: name, kind: .list { Row.keys.storage.shape }) {
      .rows(ModelRows(get($0), keys: Row.keys.storage))
    }
  }

  /// A model whose keys a section, or a dotted name such as `{{frame.title}}`, brings in reach.
  public static func object<Part: ViewModel>(
    _ name: String, _ get: @escaping @Sendable (Model) -> Part
  ) -> Key {
    optional(name) { get($0) }
  }

  /// A model that may be missing; a section over it is then not shown.
  public static func optional<Part: ViewModel>(
    _ name: String, _ get: @escaping @Sendable (Model) -> Part?
  ) -> Key {
    Key(name: name, kind: .object { Part.keys.storage.shape }) { model in
      guard let part = get(model) else { return .nothing }
      return .rows(ModelRows([part], keys: Part.keys.storage))
    }
  }
}
