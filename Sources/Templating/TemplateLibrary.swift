import Host
public import Localization

/// The parsed templates of a folder.
///
/// Templates are Mustache files according to the public specification (https://mustache.github.io),
/// with its core modules and inheritance, without lambdas. A file `users/list.mustache` is the
/// template `users/list`; partials and parents use the same names, regardless of the including
/// file. `{{%}}Text{{/%}}` is a message, whose translation is inserted when the template is loaded:
/// its text is HTML in one or several lines, and `{name}` in it is the variable `{{name}}`. The text
/// before `{{%other}}` is for a `count` of 1, the one after it for any other. `{{%context}}` begins a
/// message whose text needs another translation elsewhere.
public struct TemplateLibrary: Sendable {
  let templates: [String: ParsedTemplate]
  /// The messages of the pages.
  public let catalog: Catalog

  /// Reads all `.mustache` files in a folder and its subfolders.
  ///
  /// An indented line that starts with an element or a section continues the line before it, so
  /// that long lines can be broken without a space in the page.
  ///
  /// - Parameters:
  ///   - folder: The path of the folder.
  ///   - catalog: The messages of the templates and of view models.
  /// - Throws: ``TemplateError`` for the first file, by name, that can't be read or parsed.
  public init(folder: String, catalog: Catalog = .english) throws(TemplateError) {
    let ending = ".mustache"
    let paths: [String]
    do { paths = try ReadableFile.paths(in: folder) } catch {
      throw TemplateError(.unreadable(error.reason), at: SourceLocation(file: error.path, line: 0))
    }
    var parsed: [String: ParsedTemplate] = [:]
    for path in paths where path.hasSuffix(ending) {
      let file = folder + "/" + path
      let bytes: [UInt8]
      do { bytes = try ReadableFile.contents(file) } catch {
        throw TemplateError(.unreadable(error), at: SourceLocation(file: file, line: 0))
      }
      let name = String(path.dropLast(ending.count))
      parsed[name] = try Parser.parse(
        Continuation.joining(bytes), file: path, catalog: catalog)
    }
    templates = parsed
    self.catalog = catalog
  }

  /// Parses templates that aren't in files.
  ///
  /// - Parameters:
  ///   - sources: The text of each template by its name, which is used in errors.
  ///   - catalog: The messages of the templates and of view models.
  /// - Throws: ``TemplateError`` for the first template, by name, that can't be parsed.
  public init(sources: [String: String], catalog: Catalog = .english) throws(TemplateError) {
    var parsed: [String: ParsedTemplate] = [:]
    for (name, text) in sources.sorted(by: { $0.key < $1.key }) {
      parsed[name] = try Parser.parse(
        Array(text.utf8), file: name, catalog: catalog)
    }
    templates = parsed
    self.catalog = catalog
  }

  /// The names of all templates, sorted.
  public var names: [String] {
    templates.keys.sorted()
  }

  /// The messages of all templates, by file and line.
  public var messages: [TemplateMessage] {
    templates.values.flatMap(\.messages).sorted { ($0.file, $0.line) < ($1.file, $1.line) }
  }

  /// Binds a template to a model.
  ///
  /// Every name in the template, and in the partials, parents, and blocks it uses, must be a key of
  /// the model or of a model whose section is open. Only markup can be inserted unescaped, and a
  /// block argument must exist in the parent.
  ///
  /// - Parameters:
  ///   - name: The name of the template, such as `users/list`.
  ///   - model: The type of the page's model.
  /// - Returns: The template, ready to render.
  /// - Throws: ``TemplateError`` with file and line.
  public func template<Model: ViewModel>(
    _ name: String, for model: Model.Type
  ) throws(TemplateError) -> Template<Model> {
    let keys = Model.keys.storage
    let program = try Compiler.compile(name, from: self, for: keys.shape)
    return Template(program: program, keys: keys)
  }
}
