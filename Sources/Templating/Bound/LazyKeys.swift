import Synchronization

/// The keys of a model, made when they are first asked for.
///
/// A model may hold a list of its own kind; made at once, its keys would never be finished.
final class LazyKeys<Model: ViewModel>: Sendable {
  private let made = AtomicLazyReference<Keys<Model>.Storage>()

  var value: Keys<Model>.Storage {
    made.load() ?? made.storeIfNil(Model.keys.storage)
  }
}
