import HTTP
import Identity
import Localization
import Templating
import Text

struct AuditFilterView: ViewModel {
  private let frame: FrameView
  private let place: AuditLogPool
  private let query: AuditQuery
  private let actors: [AuditMenu.Option]
  private let menus: AuditMenus

  init(
    _ frame: FrameView, _ place: AuditLogPool, _ query: AuditQuery, _ actors: [AuditActor],
    _ menus: AuditMenus
  ) {
    self.frame = frame
    self.place = place
    self.query = query
    self.menus = menus
    self.actors = AuditMenu.options(
      Actor.Kind.allCases.map { ($0.rawValue, AuditText.name(of: $0)) }
        + actors.map { actor in
          ("\(actor.kind.rawValue):\(actor.id)", Message.value(.name(Formatted.short(actor.name))))
        },
      chosen: query.actor)
  }

  private var chosen: [Link] {
    var links: [Link] = []
    func add(_ text: Message, without names: UntrustedText...) {
      let form = Form(query.list.entries.filter { !names.contains($0.name) })
      links.append(Link(text: text, href: form.query(of: place.page)))
    }
    if !query.actor.isEmpty {
      let actor = actors.first(where: \.isChosen)?.text ?? .verbatim("")
      add(Message("Actor: {actor}", ["actor": .message(actor)]), without: "actor")
    }
    if !query.action.isEmpty {
      add(AuditMenu.text(.actions, query.action), without: "action")
    }
    if !query.field.isEmpty {
      let field = AuditMenu.text(.fields, query.field)
      add(Message("Field: {field}", ["field": .message(field)]), without: "field")
    }
    if !query.kind.isEmpty || !query.object.isEmpty {
      add(chosenResource(AuditMenu.text(.resources, query.kind)), without: "kind", "object")
    }
    if !query.pool.isEmpty, place.pool == nil {
      add(
        Message("Project or tenant: {pool}", ["pool": .text(Formatted.short(query.pool))]),
        without: "pool")
    }
    if !query.from.isEmpty {
      add(Message("From {date}", ["date": date(query.from)]), without: "from")
    }
    if !query.to.isEmpty {
      add(Message("To {date}", ["date": date(query.to)]), without: "to")
    }
    return links
  }

  private func date(_ text: String) -> Message.Value {
    Day(text).map { Times.value($0) } ?? .name(Formatted.short(text))
  }

  private func chosenResource(_ type: Message) -> Message {
    let id = Message.Value.text(Formatted.short(query.object))
    if query.kind.isEmpty { return Message("Resource: {resource}", ["resource": id]) }
    if query.object.isEmpty {
      return Message("Resource: {resource}", ["resource": .message(type)])
    }
    return Message("Resource: {type} {id}", ["type": .message(type), "id": id])
  }

  static let keys: Keys<Self> = [
    .text("action") { $0.place.page },
    .list(\.actors),
    .markup("actions") { $0.menu(.actions, chosen: $0.query.action) },
    .markup("fields") { $0.menu(.fields, chosen: $0.query.field) },
    .markup("kinds") { $0.menu(.resources, chosen: $0.query.kind) },
    .text("object") { $0.query.object },
    .text("pool") { $0.query.pool },
    .text("poolError") { $0.frame.error(at: "pool") },
    .text("from") { $0.query.from },
    // A date field would discard an invalid date, so the field becomes a text field.
    .text("fromType") { $0.frame.error(at: "from") == nil ? "date" : "text" },
    .text("toType") { $0.frame.error(at: "to") == nil ? "date" : "text" },
    .text("fromError") { $0.frame.error(at: "from") },
    .text("to") { $0.query.to },
    .text("toError") { $0.frame.error(at: "to") },
    .flag("isChosen") { !$0.query.isEmpty },
    .list("chosen") { $0.chosen },
    .text("all") { $0.query.size.form.query(of: $0.place.page) },
    .list("kept") { HiddenField.all($0.query.size.form) },
  ]

  private func menu(_ kind: AuditMenu.Kind, chosen: String) -> Markup {
    menus.markup(AuditMenu.Key(kind: kind, isOfAll: place.pool == nil, chosen: chosen))
  }
}
