import Templating

/// Renders a template with dynamic data.
func page(
  _ template: String, _ data: Value = [:], partials: [String: String] = [:]
) throws -> String {
  let sources = partials.merging(["template under test": template]) { $1 }
  let library = try TemplateLibrary(sources: sources)
  return String(decoding: try library.render("template under test", with: data), as: UTF8.self)
}
