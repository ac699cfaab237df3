/// What a page shows: plain values, and the names by which templates know them.
///
/// ```swift
/// struct UserRow: ViewModel {
///   let name: String
///   let isEnrolled: Bool
///
///   static let keys: Keys<Self> = [
///     .text("name") { $0.name },
///     .flag("isEnrolled") { $0.isEnrolled },
///   ]
/// }
/// ```
///
/// A template may use these names and no others; ``TemplateLibrary/template(_:for:)`` says where one
/// does not.
public protocol ViewModel: Sendable {
  /// The names that templates may use. A `static let` makes them once.
  static var keys: Keys<Self> { get }
}

/// The names of a ``ViewModel``, written as an array literal of ``Key``.
public struct Keys<Model>: Sendable, ExpressibleByArrayLiteral {
  let storage: Storage

  /// Makes keys; two of one name are reported when a template is bound.
  public init(arrayLiteral keys: Key<Model>...) {
    self.init(keys)
  }

  /// Makes keys from an array, for names that several models share.
  public init(_ keys: [Key<Model>]) {
    storage = Storage(keys)
  }

  /// The keys in the form that rendering needs.
  final class Storage: Sendable {
    let shape: Shape
    /// Appends what each key stands for in a model, in the order of the keys.
    let read: Reader

    typealias Reader = @Sendable (Model, inout [Slot]) -> Void

    init(_ keys: [Key<Model>]) {
      shape = Shape(
        model: String(describing: Model.self), names: keys.map(\.name), kinds: keys.map(\.kind))
      // A chain of closures: an array of them would have its generic type looked up at each step.
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
