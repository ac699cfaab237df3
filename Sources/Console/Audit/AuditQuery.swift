import HTTP
import Identity
import Localization
import Templating
import Text

struct AuditQuery: Sendable, Equatable {
  /// An actor type such as `user`, or an actor such as `administrator:{id}`.
  var actor: String
  /// An action group such as `policy`, or an action such as `policy.change`.
  var action: String
  var field: String
  var kind: String
  var object: String
  /// In the instance log, a project's ID, or those of a project and a tenant: `acme/eu-shop`.
  var pool: String
  var from: String
  var to: String
  let size: PageSize

  init(_ query: Form) {
    actor = query.trimmed("actor")
    let action = query.trimmed("action")
    // A link may have the name that an earlier version stored.
    self.action = AuditAction(stored: action)?.rawValue ?? action
    field = query.trimmed("field")
    kind = query.trimmed("kind")
    object = query.trimmed("object")
    pool = query.trimmed("pool")
    from = query.trimmed("from")
    to = query.trimmed("to")
    size = PageSize(query)
  }

  func form(without names: String...) -> Form {
    var form = Form()
    for (name, value) in [
      ("actor", actor), ("action", action), ("field", field), ("kind", kind), ("object", object),
      ("pool", pool), ("from", from), ("to", to),
    ] where !value.isEmpty && !names.contains(name) {
      form.add(name, value)
    }
    return form
  }

  /// The query of the list's first page: the filters and the size of a page.
  var list: Form { size.added(to: form()) }

  var isEmpty: Bool { form().isEmpty }

  var actorParts: (kind: String, id: String?) {
    guard let colon = actor.firstIndex(of: ":") else { return (actor, nil) }
    return (String(actor[..<colon]), String(actor[actor.index(after: colon)...]))
  }

  var poolIDs: (project: ID<Project>, tenant: ID<Tenant>?)? {
    guard !pool.isEmpty else { return nil }
    let parts = pool.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    return (ID(String(parts[0])), parts.count == 2 ? ID(String(parts[1])) : nil)
  }

  /// The filter, or the errors in the dates; no filter if the query names a kind of actor that
  /// doesn't exist, which no entry matches.
  func filter(in pool: Pool?, _ times: Times) -> (filter: AuditFilter?, faults: [FieldError]) {
    var filter = AuditFilter(pool: pool, objectID: object.isEmpty ? nil : object)
    if !kind.isEmpty { filter.objectKind = kind }
    let (actorKind, actorID) = actorParts
    (filter.actor, filter.actorID) = (Actor.Kind(rawValue: actorKind), actorID)
    if !action.isEmpty {
      filter.action = AuditGroup(rawValue: action).map { .any($0.actions) } ?? .one(action)
    }
    if !field.isEmpty { filter.fieldName = field }
    var faults: [FieldError] = []
    if !from.isEmpty, Day(from) == nil {
      faults.append(
        FieldError(
          field: "from",
          text: Message("Enter the start date as YYYY-MM-DD, such as 2026-11-03.")))
    }
    if !to.isEmpty, Day(to) == nil {
      faults.append(
        FieldError(
          field: "to",
          text: Message("Enter the end date as YYYY-MM-DD, such as 2026-11-03.")))
    }
    filter.from = Day(from).map { times.start(of: $0) }
    filter.until = Day(to).map { times.start(of: $0.next) }
    if let first = filter.from, let end = filter.until, end <= first {
      faults.append(
        FieldError(
          field: "to",
          text: Message("Choose an end date on or after the start date.")))
    }
    return (actor.isEmpty || filter.actor != nil ? filter : nil, faults)
  }
}

struct AuditFilterView: ViewModel {
  private let frame: FrameView
  private let place: AuditLogPool
  private let query: AuditQuery
  private let actors: [Choice]
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
    .flag("hasMore") { view in
      [view.query.field, view.query.kind, view.query.object, view.query.pool]
        .contains { !$0.isEmpty }
    },
    .flag("isChosen") { !$0.query.isEmpty },
    .list("chosen") { $0.chosen },
    .text("all") { $0.query.size.form.query(of: $0.place.page) },
    .list("kept") { HiddenField.all($0.query.size.form) },
  ]

  private func menu(_ kind: AuditMenu.Kind, chosen: String) -> Markup {
    menus.markup(AuditMenu.Key(kind: kind, isOfAll: place.pool == nil, chosen: chosen))
  }
}

/// The menus above an audit log whose options don't depend on the log, each rendered once.
struct AuditMenus: Sendable {
  private let template: Template<AuditMenu>
  private let fields: [(String, Message)]
  private let rendered = MarkupCache<AuditMenu.Key>(limit: 300)

  init(_ template: Template<AuditMenu>, _ catalog: Catalog) {
    self.template = template
    let names = AuditFieldName.allCases.map { ($0.storedName, AuditFieldLabel($0).name) }
    fields = names.map { (field: $0, order: catalog.text($0.1).lowercased()) }
      .sorted { $0.order < $1.order }.map { $0.field }
  }

  func markup(_ key: AuditMenu.Key) -> Markup {
    // Only options are cached: other values come from addresses, and there's no end of them.
    guard key.isKnown else { return Markup(trusted: template.render(AuditMenu(key, fields))) }
    return rendered.joined([key]) { template.render(AuditMenu($0, fields)) }
  }
}

struct AuditMenu: ViewModel {
  enum Kind: Sendable {
    case actions, fields, resources
  }

  struct Key: Hashable, Sendable {
    let kind: Kind
    let isOfAll: Bool
    let chosen: String

    var isKnown: Bool { chosen.isEmpty || AuditMenu.name(kind, chosen) != nil }
  }

  private let groups: [Group]
  private let options: [Choice]

  fileprivate init(_ key: Key, _ fields: [(String, Message)]) {
    switch key.kind {
    case .actions:
      let groups = AuditGroup.allCases
        .filter { key.isOfAll || !$0.isOfInstance }
        .map { Group($0, chosen: key.chosen) }
      let isOffered = groups.contains { $0.options.contains(where: \.isChosen) }
      self.groups = groups
      options = isOffered ? [] : Self.options([], chosen: key.chosen, of: .actions)
    case .fields:
      groups = []
      options = Self.options(fields, chosen: key.chosen, of: .fields)
    case .resources:
      let resources = AuditResource.allCases
        .filter { key.isOfAll || !AuditText.isOfInstance($0) }
      groups = []
      options = Self.options(
        resources.map { ($0.rawValue, AuditText.name(of: $0)) }, chosen: key.chosen,
        of: .resources)
    }
  }

  /// A value from the address that isn't an option is added, so that submitting the form keeps it.
  ///
  /// `kind` names an added value; `chosen` is empty for none.
  static func options(
    _ all: [(String, Message)], chosen: String, of kind: Kind? = nil
  ) -> [Choice] {
    var options = all.map { Choice(value: $0, text: $1, isChosen: $0 == chosen) }
    if !chosen.isEmpty, !options.contains(where: \.isChosen) {
      options.append(Choice(value: chosen, text: text(kind, chosen), isChosen: true))
    }
    return options
  }

  /// The text of a value, also of one that isn't an option.
  static func text(_ kind: Kind?, _ value: String) -> Message {
    kind.flatMap { name($0, value) } ?? .verbatim(Formatted.short(value.replacing(":", with: " ")))
  }

  private static func name(_ kind: Kind, _ value: String) -> Message? {
    switch kind {
    case .actions:
      AuditAction(rawValue: value).map { AuditText.name(of: $0) }
        ?? AuditGroup(rawValue: value).map { Group.whole($0) }
    case .fields: AuditFieldName(stored: value).map { AuditFieldLabel($0).name }
    case .resources: AuditResource(rawValue: value).map { AuditText.name(of: $0) }
    }
  }

  static let keys: Keys<Self> = [
    .list(\.options),
    .list(\.groups),
  ]

  struct Group: ViewModel {
    let label: Message
    let options: [Choice]

    fileprivate init(_ group: AuditGroup, chosen: String) {
      label = group.name
      let whole = Choice(
        value: group.rawValue, text: Self.whole(group), isChosen: group.rawValue == chosen)
      options =
        [whole]
        + group.actions.map { action in
          Choice(
            value: action.rawValue, text: AuditText.name(of: action),
            isChosen: action.rawValue == chosen)
        }
    }

    fileprivate static func whole(_ group: AuditGroup) -> Message {
      Message("{group} (all)", ["group": .message(group.name)])
    }

    static let keys: Keys<Self> = [
      .text(\.label),
      .list(\.options),
    ]
  }
}
