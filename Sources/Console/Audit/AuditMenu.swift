import Identity
import Localization
import Templating

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
  private let options: [Option]

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
  ) -> [Option] {
    var options = all.map { Option(value: $0, text: $1, isChosen: $0 == chosen) }
    if !chosen.isEmpty, !options.contains(where: \.isChosen) {
      options.append(Option(value: chosen, text: text(kind, chosen), isChosen: true))
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
    let options: [Option]

    fileprivate init(_ group: AuditGroup, chosen: String) {
      label = group.name
      let whole = Option(
        value: group.rawValue, text: Self.whole(group), isChosen: group.rawValue == chosen)
      options =
        [whole]
        + group.actions.map { action in
          Option(
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
