/// The content of a page: plain values, and their names in templates.
///
/// ```swift
/// struct UserRow: ViewModel {
///   let name: String
///   let isEnrolled: Bool
///
///   static let keys: Keys<Self> = [
///     .text(\.name),
///     .flag(\.isEnrolled),
///   ]
/// }
/// ```
///
/// A template can use only these names; otherwise ``TemplateLibrary/template(_:for:)`` throws an
/// error with the location.
public protocol ViewModel: Sendable {
  /// The names that templates can use; a `static let` creates them only once.
  static var keys: Keys<Self> { get }
}

/// The names of a ``ViewModel``, written as an array literal of ``Key``.
public struct Keys<Model>: Sendable, ExpressibleByArrayLiteral {
  @usableFromInline let storage: Storage

  /// Creates keys; duplicate names are reported when a template is bound.
  public init(arrayLiteral keys: Key<Model>...) {
    self.init(keys)
  }

  /// Creates keys from an array, for names shared by several models.
  public init(_ keys: [Key<Model>]) {
    storage = Storage(keys)
  }

  /// The keys in the form used for rendering.
  @usableFromInline
  final class Storage: Sendable {
    @usableFromInline let shape: Shape
    /// Appends the value of each key of a model, in order.
    let read: Reader

    typealias Reader = @Sendable (Model, inout [Slot]) -> Void

    init(_ keys: [Key<Model>]) {
      shape = Shape(
        type: Model.self, names: keys.map(\.name), kinds: keys.map(\.kind))
      // A chain of closures: an array of them would look up its generic type at each step.
      var chain: Reader = { _, _ in }
      for key in keys {
        let (before, read) = (chain, key.read)
        chain = { model, slots in
          before(model, &slots)
          slots.append(read(model))
        }
      }
      read = chain
    }
  }
}

/// A page's template whose names are all known to exist in `Model`.
///
/// Created by a ``TemplateLibrary``. Rendering can't fail.
public struct Template<Model: ViewModel>: Sendable {
  let program: Program
  let keys: Keys<Model>.Storage

  /// Renders the page for a model, in UTF-8.
  public func render(_ model: Model) -> [UInt8] {
    program.render(ModelRows([model], keys: keys))
  }
}
