import Identity
import Localization
import MailText
import Templating

enum GrantText {
  static let breakGlass = Message(
    """
    This is the break-glass account. Turn on password sign-in first. To turn it off again, choose \
    another break-glass account.
    """)

  static var lastOwner: Message {
    Message(
      """
      At least one administrator who can sign in needs this role without an end date: {roles}. \
      Grant it to someone else first.
      """, ["roles": Permission.manageAdministrators.roleNames])
  }
}

extension Role {
  var title: Message { RoleText.of(self).title }

  var summary: Message { RoleText.of(self).summary }
}

extension Permission {
  /// The roles that have the permission, narrowest first, for a text after a colon: “policy admin
  /// or owner”.
  var roleNames: Message.Value { .choice(roles.reversed().map(\.name)) }
}

extension Grant {
  /// The role and its place, by the name of its pool or else its ID.
  func place(in pool: Pool? = nil) -> Markup {
    let role = Message.Value.message(role.name)
    guard project != nil else { return Markup(html: Message("{role} (instance)", ["role": role])) }
    if let pool {
      return Markup(
        html: Message(
          "{role} ({pool})", ["role": role, "pool": .message(.verbatim(ApprovalText.place(pool)))]))
    }
    return Markup(
      html: Message(
        "{role} (<span class=\"mono\">{pool}</span>)",
        ["role": role, "pool": .message(placeText)]))
  }
}

extension Grant {
  func place(in pool: Pool? = nil, until end: Instant?, _ times: Times) -> Markup {
    guard let end else { return place(in: pool) }
    let through = Message("through {end}", ["end": times.endValue(end)])
    return #"\#(place(in: pool))<span class="sub">\#(through)</span>"#
  }
}

extension [Grant] {
  func cell(
    in pools: [Grant: Pool] = [:], until ends: [Grant: Instant], _ times: Times
  ) -> Markup {
    let places =
      isEmpty
      ? [HTML.soft(Message("none"))] : map { $0.place(in: pools[$0], until: ends[$0], times) }
    return "<div>\(Markup(joining: places, separator: "<br>"))</div>"
  }
}

struct GrantScope: Sendable, Equatable {
  /// What a form and an address contain for the whole instance, which isn't the ID of a project, so
  /// that an empty or missing value never means it.
  static let instance = "*"

  /// An asterisk for the instance, or a project's ID.
  var project = ""
  var tenant: String?

  init() {}

  init(project: String, tenant: String) {
    self.project = project
    self.tenant = tenant.isEmpty ? nil : tenant
  }

  /// Creates a place from one field, in which a slash is before the tenant.
  init(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    project = String(parts[0])
    tenant = parts.count == 2 ? String(parts[1]) : nil
  }

  init(_ grant: Grant) {
    project = grant.project?.text ?? Self.instance
    tenant = grant.tenant?.text
  }

  var text: String { tenant.map { "\(project)/\($0)" } ?? project }

  /// Returns the role in this place; nil if a part is missing or can't be an ID.
  func grant(_ role: Role) -> Grant? {
    guard [project, tenant].allSatisfy({ $0.map { !$0.isEmpty && !$0.contains("/") } ?? true })
    else { return nil }
    guard project == Self.instance else {
      return Grant(role: role, project: ID(project), tenant: tenant.map { ID($0) })
    }
    return tenant == nil ? Grant(role: role) : nil
  }
}

extension AdministratorError {
  func fault() -> FieldError {
    switch self {
    case .invalidEmail:
      FieldError(field: "email", text: Message("Enter an email address such as name@example.com."))
    case .emailTaken:
      FieldError(
        field: "email",
        text: Message("An administrator with this email address already exists."))
    case .invalidName:
      FieldError(field: "name", text: Message("Enter your name as others should see it."))
    case .weakPassword(let reason): FieldError(field: "password", text: reason.message)
    }
  }
}
