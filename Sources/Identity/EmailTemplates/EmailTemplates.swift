import Database
import Text

/// The templates of emails to the users of a project or tenant.
///
/// They're a part of the pool's configuration (`notification.sendEmail`), which the API changes too.
/// A link in an email gives access to the account, so only those who decide where links lead may
/// change what's around it.
public struct EmailTemplates: Sendable {
  let store: Store
  let pools: UserPools

  /// The maximum number of test emails that an administrator can send in an hour.
  static let testsPerHour = 20

  /// Lists the kinds of emails with the pool's templates.
  ///
  /// - Throws: ``EmailTemplateError/unavailable(_:)``.
  public func list(_ scope: Scope) async throws(EmailTemplateError) -> [PoolEmailTemplate] {
    try await store.read(EmailTemplateError.self) { connection in
      let templates = try PoolEmailTemplates.read(scope, connection)
      return EmailTemplate.Kind.allCases.map { PoolEmailTemplate($0, templates) }
    }
  }

  /// Finds the template of a kind of email.
  ///
  /// - Throws: ``EmailTemplateError/unavailable(_:)``.
  public func find(
    _ scope: Scope, _ kind: EmailTemplate.Kind
  ) async throws(EmailTemplateError) -> PoolEmailTemplate {
    try await store.read(EmailTemplateError.self) { connection in
      PoolEmailTemplate(kind, try PoolEmailTemplates.read(scope, connection))
    }
  }

  /// Changes a template, or removes it if it's empty, for an administrator in the console.
  ///
  /// - Parameters:
  ///   - scope: The user pool.
  ///   - kind: The kind of email.
  ///   - template: The template.
  ///   - version: The version of the pool's own template when editing began.
  ///   - request: The administrator and their input.
  /// - Returns: The session under its new token, if a proof was required and accepted.
  /// - Throws: ``ActionError``.
  public func change(
    _ scope: Scope, _ kind: EmailTemplate.Kind, to template: EmailTemplate,
    expecting version: SettingsVersion, _ request: ActionRequest
  ) async throws(ActionError<EmailTemplateError>) -> ActionOutcome<Void> {
    let faults = template.faults(kind)
    guard faults.isEmpty else { throw .failed(.invalid(faults)) }
    let change = pools.change(of: scope.project, scope.tenant) { edit throws(UserPoolError) in
      edit.setTemplate(kind, template)
    }
    return try await store.perform(
      .changeEmailTemplate, request, in: ActionTarget(scope), EmailTemplateError.self
    ) { context, connection in
      let current = try PoolEmailTemplates.read(scope, connection).ownTemplate(kind)
      guard (current ?? EmailTemplate()).version == version else {
        throw EmailTemplateError.changedMeanwhile
      }
      do {
        _ = try change(context, connection)
      } catch let error as UserPoolError { throw EmailTemplateError(error) }
    }
  }

  /// Writes an email with sample values, as it would be sent.
  public func preview(
    _ scope: Scope, _ kind: EmailTemplate.Kind, _ template: EmailTemplate
  ) -> EmailPreview {
    EmailPreview(sample(scope, kind, template))
  }

  /// Sends an email with sample values to the administrator's own address.
  ///
  /// - Returns: The address.
  /// - Throws: ``ActionError``.
  public func sendTest(
    _ scope: Scope, _ kind: EmailTemplate.Kind, _ template: EmailTemplate,
    _ request: ActionRequest
  ) async throws(ActionError<EmailTemplateError>) -> ActionOutcome<String> {
    let faults = template.faults(kind)
    guard faults.isEmpty else { throw .failed(.invalid(faults)) }
    let mail = sample(scope, kind, template)
    let (administrator, store) = (request.agent.administrator, store)
    return try await store.perform(
      .sendTestEmail, request, in: ActionTarget(scope), EmailTemplateError.self
    ) { context, connection in
      let now = context.now
      let until = try HourlyQuota.take(
        "test-email \(administrator.id.text)", limit: Self.testsPerHour, at: now, connection)
      if let until { throw EmailTemplateError.tooManyTests(until: until) }
      try store.outbox.add(
        OutboxMessage(
          purpose: "test-email", recipient: administrator.email, text: mail,
          expiresAt: now.advanced(bySeconds: 86_400),
          to: OutboxMessage.Reader(id: administrator.id)),
        to: nil, in: scope, at: now, connection)
      var entry = AuditEntry(
        .emailTemplateTest, scope.object, scope.objectID, name: scope.name, in: scope)
      entry.add(.message, .code(kind.rawValue))
      entry.add(.email, .text(administrator.email))
      try context.record(entry, connection)
      return administrator.email
    }
  }

  private func sample(
    _ scope: Scope, _ kind: EmailTemplate.Kind, _ template: EmailTemplate
  ) -> WrittenMail {
    let writer = store.outbox.writer
    let language = writer.language(for: nil)
    let content = SampleEmail(scope: scope, links: store.links, now: store.clock.now())
      .content(kind)
    var values = content.values.merging(writer.values(of: content.mail, in: language)) { $1 }
    values[.displayName] = SampleEmail.displayName
    return template.written(kind, values, in: language) {
      writer.write(content.mail, in: language)
    }
  }
}

/// A kind of email, with the template of a pool.
public struct PoolEmailTemplate: Sendable {
  /// The kind of email.
  public let kind: EmailTemplate.Kind
  /// The pool's own template; nil for none.
  public let own: EmailTemplate?
  /// The project's template, which applies to a tenant without its own; nil for none.
  public let inherited: EmailTemplate?

  init(_ kind: EmailTemplate.Kind, _ templates: PoolEmailTemplates) {
    self.kind = kind
    own = templates.ownTemplate(kind)
    inherited = templates.inheritedTemplate(kind)
  }
}

/// An email with sample values.
public struct EmailPreview: Sendable {
  /// The subject.
  public let subject: String
  /// The sender's name; nil for the server's default.
  public let senderName: String?
  /// The address for replies; nil for the sender's.
  public let replyTo: String?
  /// The plain text.
  public let text: String
  /// The HTML document as it's sent, with elements that are safe to show.
  public let html: String

  /// The style element of ``html``, which a content security policy can allow by its digest.
  public static let style = MessageText.style

  init(_ mail: WrittenMail) {
    (subject, senderName, replyTo, text) = (mail.subject, mail.senderName, mail.replyTo, mail.body)
    let html = mail.html ?? EmailHTML(text: text).html
    self.html = MessageText(subject: subject, body: text, html: html).document(in: mail.language)
  }
}

/// Why an operation on an email template failed.
public enum EmailTemplateError: Error, Sendable {
  /// The template isn't accepted.
  case invalid([EmailTemplateFault])
  /// Someone else changed the template while it was edited.
  case changedMeanwhile
  /// The administrator sent too many test emails; they can send another one at this time.
  case tooManyTests(until: Instant)
  /// The project or tenant was deleted.
  case scopeNotFound
  /// The database is unavailable.
  case unavailable(Failure)

  init(_ error: UserPoolError) {
    self =
      switch error {
      case .template(let fault): .invalid([fault])
      case .projectNotFound, .tenantNotFound: .scopeNotFound
      case .unavailable(let cause): .unavailable(cause)
      default: .unavailable(Failure("\(error)"))
      }
  }
}

extension EmailTemplateError: UseCaseError {}
