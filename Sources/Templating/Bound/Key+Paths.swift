public import Localization

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
