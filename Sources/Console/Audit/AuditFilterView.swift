import HTTP
import Identity
import Localization
import Templating
import Text

/// The filters above an audit log: a GET form, and the active filters with links to remove them.
struct AuditFilterView: ViewModel {
  private let frame: FrameView
  private let place: AuditPlace
  private let query: AuditQuery
  private let actors: [Option]
  private let actions: [Group]
  private let unknownActions: [Option]
  private let fields: [Option]
  private let kinds: [Option]

  init(_ frame: FrameView, _ place: AuditPlace, _ query: AuditQuery, _ actors: [AuditActor]) {
    self.frame = frame
    self.place = place
    self.query = query
    let isOfAll = place.scope == nil
    self.actors = Self.options(
      Actor.Kind.allCases.map { ($0.rawValue, AuditWords.name(of: $0)) }
        + actors.map { actor in
          ("\(actor.kind.rawValue):\(actor.id)", Message.verbatim(Words.short(actor.name)))
        },
      chosen: query.actor)
    actions = AuditAction.Group.allCases.filter { isOfAll || !AuditWords.isOfInstance($0) }.map {
      Group($0, chosen: query.action)
    }
    let isKnown = actions.contains { $0.options.contains(where: \.isChosen) }
    unknownActions = isKnown ? [] : Self.options([], chosen: query.action)
    fields = Self.options(Self.sortedFields(frame.catalog), chosen: query.field)
    kinds = Self.options(
      AuditResource.allCases.filter { isOfAll || !AuditWords.isOfInstance($0) }.map {
        ($0.rawValue, AuditWords.name(of: $0))
      },
      chosen: query.kind)
  }

  /// The fields in the order of their names.
  private static func sortedFields(_ catalog: Catalog) -> [(String, Message)] {
    let names = AuditFieldName.allCases.map { ($0.rawValue, AuditFieldLabel($0).name) }
    let ordered = names.map { (field: $0, order: catalog.text($0.1).lowercased()) }
      .sorted { $0.order < $1.order }
    return ordered.map { $0.field }
  }

  /// The options of a menu.
  ///
  /// A value from the address that isn't an option is added, so that submitting the form keeps it.
  private static func options(_ all: [(String, Message)], chosen: String) -> [Option] {
    var options = all.map { Option(value: $0, text: $1, isChosen: $0 == chosen) }
    if !chosen.isEmpty, !options.contains(where: \.isChosen) {
      let text =
        AuditAction(rawValue: chosen).map { AuditWords.name(of: $0) }
        ?? .verbatim(Words.short(chosen.replacing(":", with: " ")))
      options.append(Option(value: chosen, text: text, isChosen: true))
    }
    return options
  }

  /// The active filters, each with the address of the log without it.
  private var chosen: [Link] {
    var links: [Link] = []
    func add(_ text: Message, without names: UntrustedText...) {
      var form = query.form()
      form = Form(form.entries.filter { !names.contains($0.name) })
      links.append(Link(text: text, href: form.query(of: place.page)))
    }
    func text(_ options: [Option]) -> Message {
      options.first(where: \.isChosen)?.text ?? .verbatim("")
    }
    if !query.actor.isEmpty {
      add(Message("audit.chosen-actor", ["actor": .message(text(actors))]), without: "actor")
    }
    if !query.action.isEmpty {
      add(text(actions.flatMap(\.options) + unknownActions), without: "action")
    }
    if !query.field.isEmpty {
      add(Message("audit.chosen-field", ["field": .message(text(fields))]), without: "field")
    }
    if !query.kind.isEmpty || !query.object.isEmpty {
      add(chosenResource(text(kinds)), without: "kind", "object")
    }
    if !query.from.isEmpty {
      add(Message("audit.chosen-start", ["date": .text(Words.short(query.from))]), without: "from")
    }
    if !query.to.isEmpty {
      add(Message("audit.chosen-end", ["date": .text(Words.short(query.to))]), without: "to")
    }
    return links
  }

  /// The chosen type, ID, or both.
  private func chosenResource(_ type: Message) -> Message {
    let id = Message.Value.text(Words.short(query.object))
    if query.kind.isEmpty { return Message("audit.chosen-resource", ["resource": id]) }
    if query.object.isEmpty {
      return Message("audit.chosen-resource", ["resource": .message(type)])
    }
    return Message("audit.chosen-resource-of-type", ["type": .message(type), "id": id])
  }

  static let keys: Keys<Self> = [
    .text("action") { $0.place.page },
    .list(\.actors),
    .list(\.unknownActions),
    .list(\.actions),
    .list(\.fields),
    .list(\.kinds),
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

  /// A group of actions in the menu: the whole group, and each action if there are several.
  struct Group: ViewModel {
    let label: Message
    let options: [Option]

    init(_ group: AuditAction.Group, chosen: String) {
      label = AuditWords.name(of: group)
      let whole = Option(
        value: group.rawValue, text: Message("audit.whole-group", ["group": .message(label)]),
        isChosen: group.rawValue == chosen)
      options =
        [whole]
        + group.actions.map { action in
          Option(
            value: action.rawValue, text: AuditWords.name(of: action),
            isChosen: action.rawValue == chosen)
        }
    }

    static let keys: Keys<Self> = [
      .text(\.label),
      .list(\.options),
    ]
  }

  /// An option of a `select` element.
  struct Option: ViewModel {
    let value: String
    let text: Message
    let isChosen: Bool

    static let keys: Keys<Self> = [
      .text(\.value),
      .text(\.text),
      .flag(\.isChosen),
    ]
  }
}
