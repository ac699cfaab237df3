import HTTP
import Identity
import Templating
import Text

/// The filters above an audit log: a GET form, and the active filters with links to remove them.
struct AuditFilterView: ViewModel {
  private let frame: FrameView
  private let place: AuditPlace
  private let query: AuditQuery
  private let actors: [Option]
  private let actions: [Option]
  private let kinds: [Option]

  init(_ frame: FrameView, _ place: AuditPlace, _ query: AuditQuery, _ actors: [AuditActor]) {
    self.frame = frame
    self.place = place
    self.query = query
    let isOfAll = place.scope == nil
    self.actors = Self.options(
      AuditWords.actorKinds.map { ($0.kind, $0.words) }
        + actors.map { ("\($0.kind):\($0.id)", Words.short($0.name)) },
      chosen: query.actor)
    actions = Self.options(
      AuditWords.groups.filter { isOfAll || !$0.isOfInstance }.map { ($0.name, $0.words) },
      chosen: query.action)
    kinds = Self.options(
      AuditWords.objectKinds.filter { isOfAll || !$0.isOfInstance }.map { ($0.kind, $0.words) },
      chosen: query.kind)
  }

  /// The options of a menu.
  ///
  /// A value from the address that isn't an option is added, so that submitting the form keeps it.
  private static func options(_ all: [(String, String)], chosen: String) -> [Option] {
    var options = all.map { Option(value: $0, text: $1, isChosen: $0 == chosen) }
    if !chosen.isEmpty, !options.contains(where: \.isChosen) {
      let text = AuditWords.actions[chosen] ?? Words.short(chosen.replacing(":", with: " "))
      options.append(Option(value: chosen, text: text, isChosen: true))
    }
    return options
  }

  /// The active filters, each with the address of the log without it.
  private var chosen: [Link] {
    var links: [Link] = []
    func add(_ text: String, without names: UntrustedText...) {
      var form = query.form()
      form = Form(form.entries.filter { !names.contains($0.name) })
      links.append(Link(text: text, href: form.query(of: place.page)))
    }
    func text(_ options: [Option]) -> String { options.first(where: \.isChosen)?.text ?? "" }
    if !query.actor.isEmpty { add("Actor: \(text(actors))", without: "actor") }
    if !query.action.isEmpty { add(Words.sentence(text(actions)), without: "action") }
    if !query.kind.isEmpty || !query.object.isEmpty {
      let kind = query.kind.isEmpty ? "" : text(kinds) + " "
      add("Resource: \(kind)\(Words.short(query.object))".trimmedEnd, without: "kind", "object")
    }
    if !query.from.isEmpty { add("From \(Words.short(query.from))", without: "from") }
    if !query.to.isEmpty { add("To \(Words.short(query.to))", without: "to") }
    return links
  }

  static let keys: Keys<Self> = [
    .text("action") { $0.place.page },
    .list("actors") { $0.actors },
    .list("actions") { $0.actions },
    .list("kinds") { $0.kinds },
    .text("object") { $0.query.object },
    .text("from") { $0.query.from },
    // A date field would discard an invalid date, so the field becomes a text field.
    .text("fromType") { $0.frame.error(at: "from") == nil ? "date" : "text" },
    .text("toType") { $0.frame.error(at: "to") == nil ? "date" : "text" },
    .text("fromError") { $0.frame.error(at: "from") },
    .text("to") { $0.query.to },
    .text("toError") { $0.frame.error(at: "to") },
    .flag("isChosen") { !$0.query.isEmpty },
    .list("chosen") { $0.chosen },
    .text("all") { $0.place.page },
  ]

  /// An option of a `select` element.
  struct Option: ViewModel {
    let value: String
    let text: String
    let isChosen: Bool

    static let keys: Keys<Self> = [
      .text("value") { $0.value },
      .text("text") { $0.text },
      .flag("isChosen") { $0.isChosen },
    ]
  }
}

extension String {
  fileprivate var trimmedEnd: String { last == " " ? String(dropLast()) : self }
}
