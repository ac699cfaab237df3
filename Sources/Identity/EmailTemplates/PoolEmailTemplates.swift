import Database
import JSON
import Text

/// The email templates of a user pool: a tenant's own, and its project's if the tenant inherits them
/// (`inheritance.emailSendingConfig`).
struct PoolEmailTemplates: Sendable {
  /// `notification.sendEmail` of the pool's own configuration.
  private let own: JSON?
  /// That of the project, if the pool is a tenant that inherits it.
  private let inherited: JSON?

  /// The application's own page for links, which only a project has.
  var handler: String? {
    (inherited ?? own)?["callbackUri"]?.textValue?.text
  }

  /// The template of a kind of email; nil for the default text.
  func template(_ kind: EmailTemplate.Kind) -> EmailTemplate? {
    EmailTemplate(kind, of: own) ?? inheritedTemplate(kind)
  }

  /// The pool's own template of a kind of email.
  func ownTemplate(_ kind: EmailTemplate.Kind) -> EmailTemplate? { EmailTemplate(kind, of: own) }

  /// The project's template of a kind of email, which a tenant has unless it has its own.
  func inheritedTemplate(_ kind: EmailTemplate.Kind) -> EmailTemplate? {
    EmailTemplate(kind, of: inherited)
  }

  static func read(
    _ scope: Scope, _ connection: borrowing Connection
  ) throws -> PoolEmailTemplates {
    let own = try connection.first(
      """
      SELECT \(SQL.member("notification.sendEmail", of: "members")),
        coalesce(\(SQL.flag("inheritance.emailSendingConfig", of: "members")), 0)
      FROM scope WHERE scope_key = \(scope.key)
      """
    ) { row in (mails: try row.value(0) as String?, inherits: try row.value(1) as Bool) }
    guard scope.tenant != nil, own?.inherits == true else {
      return PoolEmailTemplates(own: parsed(own?.mails, of: scope), inherited: nil)
    }
    let project = try connection.first(
      """
      SELECT \(SQL.member("notification.sendEmail", of: "members"))
      FROM scope WHERE project_id = \(scope.project.text) AND tenant_id = ''
      """
    ) { try $0.value(0) as String? }
    return PoolEmailTemplates(
      own: parsed(own?.mails, of: scope), inherited: parsed(project ?? nil, of: nil))
  }

  /// A tenant has templates, but no page for links.
  private static func parsed(_ text: String?, of scope: Scope?) -> JSON? {
    guard let text, var mails = (try? JSON.parse(Array(text.utf8)))?.objectValue else { return nil }
    if scope?.tenant != nil { mails["callbackUri"] = nil }
    return .object(mails)
  }
}

extension UserPoolEdit {
  /// `notification.sendEmail` of the configuration.
  private var mails: JSON? { storedMembers.content.root?["notification"]?["sendEmail"] }

  /// Checks the email templates that differ from those of an earlier configuration.
  ///
  /// - Throws: ``EmailTemplateFault``.
  func checkTemplates(since old: UserPoolEdit) throws(EmailTemplateFault) {
    guard storedMembers != old.storedMembers else { return }
    let (before, after) = (old.mails, mails)
    for kind in EmailTemplate.Kind.allCases {
      guard let template = EmailTemplate(kind, of: after),
        template != EmailTemplate(kind, of: before)
      else { continue }
      if let fault = template.faults(kind).first { throw fault }
    }
  }

  /// Sets or removes a template.
  mutating func setTemplate(_ kind: EmailTemplate.Kind, _ template: EmailTemplate) {
    var root = storedMembers.object
    root.changeObject("notification") { notification in
      notification.changeObject("sendEmail") { template.write(kind, into: &$0) }
      if notification["sendEmail"]?.objectValue?.isEmpty == true { notification["sendEmail"] = nil }
    }
    if root["notification"]?.objectValue?.isEmpty == true { root["notification"] = nil }
    setMembers(root)
  }
}
