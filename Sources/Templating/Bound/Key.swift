public import Localization

/// A name of a ``ViewModel``, and how to read its value.
///
/// The functions are inlinable, so that they're compiled for each model: reading values of generic
/// types would look the types up at run time, for each value of each page.
public struct Key<Model>: Sendable {
  let name: String
  let kind: Kind
  let read: @Sendable (Model) -> Slot

  @usableFromInline
  init(name: String, kind: Kind, read: @escaping @Sendable (Model) -> Slot) {
    self.name = name
    self.kind = kind
    self.read = read
  }

  /// Text, escaped when inserted; nil is the empty text.
  ///
  /// A section for it is shown when it isn't empty; inside, `{{.}}` is the text.
  @inlinable
  public static func text(
    _ name: String, _ get: @escaping @Sendable (Model) -> String?
  ) -> Key {
    Key(name: name, kind: .text) { get($0).map(Slot.text) ?? .nothing }
  }

  /// A message, formatted with the library's catalog and escaped; nil is the empty text.
  @inlinable
  public static func text(
    _ name: String, _ get: @escaping @Sendable (Model) -> Message?
  ) -> Key {
    Key(name: name, kind: .text) { get($0).map(Slot.message) ?? .nothing }
  }

  /// An integer, inserted in decimal; nil is the empty text.
  ///
  /// A section for it is shown when it isn't zero; inside, `{{.}}` is the number.
  @inlinable
  public static func number(
    _ name: String, _ get: @escaping @Sendable (Model) -> Int?
  ) -> Key {
    Key(name: name, kind: .number) { get($0).map(Slot.number) ?? .nothing }
  }

  /// A condition for sections; inserted as `true` or `false`.
  @inlinable
  public static func flag(
    _ name: String, _ get: @escaping @Sendable (Model) -> Bool
  ) -> Key {
    Key(name: name, kind: .flag) { .flag(get($0)) }
  }

  /// HTML that `{{name}}` and `{{{name}}}` insert unescaped; nil is the empty text.
  ///
  /// A section for it is shown when it isn't empty.
  @inlinable
  public static func markup(
    _ name: String, _ get: @escaping @Sendable (Model) -> Markup?
  ) -> Key {
    Key(name: name, kind: .markup) { get($0).map(Slot.markup) ?? .nothing }
  }

  /// A message whose text in the catalog is HTML; its arguments are escaped.
  @inlinable
  public static func markup(
    _ name: String, _ get: @escaping @Sendable (Model) -> Message?
  ) -> Key {
    Key(name: name, kind: .markup) {
      get($0).map { .markup(Markup(html: $0)) } ?? .nothing
    }
  }

  /// Texts for a section that is rendered once for each, as `{{.}}`.
  @inlinable
  public static func texts(
    _ name: String, _ get: @escaping @Sendable (Model) -> [String]
  ) -> Key {
    Key(name: name, kind: .texts) { .rows(TextRows(get($0).map(Slot.text))) }
  }

  /// Messages for a section that is rendered once for each, as `{{.}}`.
  @inlinable
  public static func texts(
    _ name: String, _ get: @escaping @Sendable (Model) -> [Message]
  ) -> Key {
    Key(name: name, kind: .texts) { .rows(TextRows(get($0).map(Slot.message))) }
  }

  /// Models for a section that is rendered once for each, with access to their keys.
  ///
  /// Every list also has a flag: a section for `hasRows` is shown once if `rows` isn't empty.
  @inlinable
  public static func list<Row: ViewModel>(
    _ name: String, _ get: @escaping @Sendable (Model) -> [Row]
  ) -> Key {
    Key(name: name, kind: .list { Row.keys.storage.shape }) {
      .rows(ModelRows(get($0), keys: Row.keys.storage))
    }
  }

  /// A model whose keys are accessible in a section or by a dotted name such as `{{frame.title}}`.
  @inlinable
  public static func object<Part: ViewModel>(
    _ name: String, _ get: @escaping @Sendable (Model) -> Part
  ) -> Key {
    optional(name) { get($0) }
  }

  /// An optional model; a section for it is shown only when there is one.
  @inlinable
  public static func optional<Part: ViewModel>(
    _ name: String, _ get: @escaping @Sendable (Model) -> Part?
  ) -> Key {
    Key(name: name, kind: .object { Part.keys.storage.shape }) { model in
      guard let part = get(model) else { return .nothing }
      return .rows(ModelRows([part], keys: Part.keys.storage))
    }
  }
}

/// Keys named after a stored property, so that a plain field is declared once: `.text(\.name)`.
extension Key {
  /// Text of a stored property, under the property's name.
  @inlinable
  public static func text(_ path: any KeyPath<Model, String> & Sendable) -> Key {
    property(path, .text) { .text($0) }
  }

  /// Optional text of a stored property, under the property's name.
  @inlinable
  public static func text(_ path: any KeyPath<Model, String?> & Sendable) -> Key {
    property(path, .text) { $0.map(Slot.text) ?? .nothing }
  }

  /// The message of a stored property, under the property's name.
  @inlinable
  public static func text(_ path: any KeyPath<Model, Message> & Sendable) -> Key {
    property(path, .text) { .message($0) }
  }

  /// The optional message of a stored property, under the property's name.
  @inlinable
  public static func text(_ path: any KeyPath<Model, Message?> & Sendable) -> Key {
    property(path, .text) { $0.map(Slot.message) ?? .nothing }
  }

  /// The condition of a stored property, under the property's name.
  @inlinable
  public static func flag(_ path: any KeyPath<Model, Bool> & Sendable) -> Key {
    property(path, .flag) { .flag($0) }
  }

  /// The number of a stored property, under the property's name.
  @inlinable
  public static func number(_ path: any KeyPath<Model, Int> & Sendable) -> Key {
    property(path, .number) { .number($0) }
  }

  /// The markup of a stored property, under the property's name.
  @inlinable
  public static func markup(_ path: any KeyPath<Model, Markup> & Sendable) -> Key {
    property(path, .markup) { .markup($0) }
  }

  /// The optional markup of a stored property, under the property's name.
  @inlinable
  public static func markup(_ path: any KeyPath<Model, Markup?> & Sendable) -> Key {
    property(path, .markup) { $0.map(Slot.markup) ?? .nothing }
  }

  /// The models of a stored property, under the property's name.
  @inlinable
  public static func list<Row: ViewModel>(
    _ path: any KeyPath<Model, [Row]> & Sendable
  ) -> Key {
    property(path, .list { Row.keys.storage.shape }) {
      .rows(ModelRows($0, keys: Row.keys.storage))
    }
  }

  /// The model of a stored property, under the property's name.
  @inlinable
  public static func object<Part: ViewModel>(
    _ path: any KeyPath<Model, Part> & Sendable
  ) -> Key {
    property(path, .object { Part.keys.storage.shape }) {
      .rows(ModelRows([$0], keys: Part.keys.storage))
    }
  }

  /// The optional model of a stored property, under the property's name.
  @inlinable
  public static func optional<Part: ViewModel>(
    _ path: any KeyPath<Model, Part?> & Sendable
  ) -> Key {
    property(path, .object { Part.keys.storage.shape }) { part in
      part.map { .rows(ModelRows([$0], keys: Part.keys.storage)) } ?? .nothing
    }
  }

  @inlinable
  static func property<Value>(
    _ path: any KeyPath<Model, Value> & Sendable, _ kind: Kind,
    _ slot: @escaping @Sendable (Value) -> Slot
  ) -> Key {
    // A key path's description ends with the name of a stored property; `offset(of:)` is nil for a
    // computed one, which has no name at run time.
    //
    // Interpolating the path instead would search all conformances for those of its type.
    let name = String(path.debugDescription.split(separator: ".").last ?? "")
    guard let offset = MemoryLayout<Model>.offset(of: path) else {
      preconditionFailure("\(path) isn’t a stored property of a structure; name it in a closure")
    }
    // 1. The offset is that of a stored property of `Model` with the type `Value`.
    return Key(name: name, kind: kind) { model in
      unsafe withUnsafeBytes(of: model) { bytes in
        slot(unsafe bytes.load(fromByteOffset: offset, as: Value.self))
      }
    }
  }
}
