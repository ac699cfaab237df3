/// A page's template, all of whose names are known to stand for something in `Model`.
///
/// A ``TemplateLibrary`` makes it. Rendering cannot fail.
public struct Template<Model: ViewModel>: Sendable {
  let program: Program
  let keys: Keys<Model>.Storage

  /// The page for a model, in UTF-8.
  public func render(_ model: Model) -> [UInt8] {
    program.render(ModelRows([model], keys: keys))
  }
}
