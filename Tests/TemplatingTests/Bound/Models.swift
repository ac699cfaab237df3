import Templating

/// A model with one key of each kind.
struct TeamPage: ViewModel {
  var title = "The <A> Team"
  var note: String?
  var count = 2
  var isOpen = true
  var strip = Markup(trusted: "<svg/>")
  var lines = ["one & two", "three"]
  var members = [Member(name: "Ada"), Member(name: "Grace", team: "Navy")]
  var frame = Frame()
  var notice: Notice?

  static let keys: Keys<Self> = [
    .text("title") { $0.title },
    .text("note") { $0.note },
    .number("count") { $0.count },
    .flag("isOpen") { $0.isOpen },
    .markup("strip") { $0.strip },
    .texts("lines") { $0.lines },
    .list("members") { $0.members },
    .object("frame") { $0.frame },
    .optional("notice") { $0.notice },
  ]
}

struct Member: ViewModel {
  var name: String
  var team: String?
  var reports: [Member] = []

  static let keys: Keys<Self> = [
    .text("name") { $0.name },
    .text("team") { $0.team },
    .list("reports") { $0.reports },
  ]
}

struct Frame: ViewModel {
  var heading = "Console"
  var notice = Notice(text: "framed")

  static let keys: Keys<Self> = [
    .text("heading") { $0.heading },
    .object("inner") { $0.notice },
  ]
}

struct Notice: ViewModel {
  var text: String

  static let keys: Keys<Self> = [.text("text") { $0.text }]
}

/// Renders `sources["page"]`, bound to a model.
func render<Model: ViewModel>(_ model: Model, _ sources: [String: String]) throws -> String {
  let template = try TemplateLibrary(sources: sources).template("page", for: Model.self)
  return String(decoding: template.render(model), as: UTF8.self)
}

func render<Model: ViewModel>(_ model: Model, _ page: String) throws -> String {
  try render(model, ["page": page])
}
