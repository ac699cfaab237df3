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
