import JSON
import Text

/// A placeholder in an email template, which is replaced with a value.
public enum EmailVariable: String, CaseIterable, Sendable {
  /// The link of the email.
  case link = "%LINK%"
  /// The name of the project.
  case appName = "%APP_NAME%"
  /// The account's email address.
  case email = "%EMAIL%"
  /// The account's new email address.
  case newEmail = "%NEW_EMAIL%"
  /// The account's display name; empty if someone else may have chosen it.
  case displayName = "%DISPLAY_NAME%"
  /// The name of the second factor.
  case secondFactor = "%SECOND_FACTOR%"
  /// What happened to the account, and what it means, in sentences.
  case change = "%CHANGE%"
  /// How to report the change, with a link where there's one.
  case report = "%REPORT%"
  /// The code.
  case code = "%CODE%"
  /// The name of the support agent.
  case agent = "%AGENT%"

  /// Whether the server writes the value, so that its addresses become links.
  var isOfServer: Bool {
    switch self {
    case .link, .change, .report: true
    case .appName, .email, .newEmail, .displayName, .secondFactor, .code, .agent: false
    }
  }

  /// Whether the value may be in the subject of an email, which other people can see on a screen.
  var isForSubject: Bool {
    switch self {
    case .appName, .email, .newEmail, .displayName: true
    case .link, .secondFactor, .change, .report, .code, .agent: false
    }
  }
}

/// The text of a kind of email to users, from `notification.sendEmail` of a project's or tenant's
/// configuration.
public struct EmailTemplate: Equatable, Sendable {
  /// A kind of email that has a template, with the purpose of its messages.
  public enum Kind: String, CaseIterable, Sendable {
    /// A link to choose a new password.
    case resetPassword = "reset-password"
    /// A link to verify an email address.
    case verifyEmail = "verify-email"
    /// A link to sign in.
    case signIn = "sign-in"
    /// A link to verify and change an email address, to the new address.
    case verifyAndChangeEmail = "verify-new-email"
    /// A link to restore an email address, to the former address.
    case changeEmail = "recover-email"
    /// A link to remove a second factor that was added.
    case revertSecondFactorAddition = "revert-factor"
    /// A link to set up an authenticator app.
    case enrollmentLink = "enrollment-link"
    /// A code to read to a support agent.
    case callerCode = "caller-code"
    /// A notice of a change to the account.
    case notice

    /// The name of the configuration member; those for a password reset, a verification, a changed
    /// address, and a new second factor are production's.
    var member: String {
      switch self {
      case .resetPassword: "resetPasswordTemplate"
      case .verifyEmail: "verifyEmailTemplate"
      case .signIn: "signInTemplate"
      case .verifyAndChangeEmail: "verifyAndChangeEmailTemplate"
      case .changeEmail: "changeEmailTemplate"
      case .revertSecondFactorAddition: "revertSecondFactorAdditionTemplate"
      case .enrollmentLink: "enrollmentLinkTemplate"
      case .callerCode: "callerCodeTemplate"
      case .notice: "noticeTemplate"
      }
    }

    /// The variables that a text must have, because the email is useless without them.
    public var required: [EmailVariable] {
      switch self {
      case .callerCode: [.code]
      case .enrollmentLink: [.link, .report]
      case .notice: [.change, .report]
      default: [.link]
      }
    }

    /// The variables that a text may have.
    public var variables: [EmailVariable] {
      let own: [EmailVariable] =
        switch self {
        case .verifyAndChangeEmail, .changeEmail: [.newEmail]
        case .revertSecondFactorAddition: [.secondFactor]
        case .callerCode: [.agent]
        default: []
        }
      return required + [.appName, .email, .displayName] + own
    }
  }

  /// A part of a template.
  public enum Field: String, CaseIterable, Sendable {
    /// The subject.
    case subject
    /// The text.
    case text
    /// The HTML.
    case html
    /// The sender's name.
    case senderName = "sender-name"
    /// The address for replies.
    case replyTo = "reply-to"

    /// The maximum length in UTF-8, in bytes.
    public var longest: Int {
      switch self {
      case .subject: 250
      case .text, .html: 32 << 10
      case .senderName: 100
      case .replyTo: 254
      }
    }
  }

  /// The subject; empty for the server's default, like every other part.
  public var subject = ""
  /// The text; empty to make it from the HTML.
  public var text = ""
  /// The HTML; empty to make it from the text.
  public var html = ""
  /// The sender's name.
  public var senderName = ""
  /// The address for replies.
  public var replyTo = ""

  /// Creates an empty template.
  public init() {}

  /// Creates a template from what someone entered, without spaces around its parts and with line
  /// feeds as line breaks.
  public init(subject: String, text: String, html: String, senderName: String, replyTo: String) {
    func cleaned(_ text: String) -> String {
      ScopeGuidance.withLineFeeds(text).trimmed
    }
    (self.subject, self.text, self.html) = (cleaned(subject), cleaned(text), cleaned(html))
    (self.senderName, self.replyTo) = (cleaned(senderName), cleaned(replyTo))
  }

  /// The version, to notice changes while someone edits the template.
  public var version: SettingsVersion { SettingsVersion(Field.allCases.map { self[$0] }) }

  /// Whether it changes nothing.
  public var isEmpty: Bool { self == EmailTemplate() }

  /// A part of the template.
  public subscript(_ field: Field) -> String {
    switch field {
    case .subject: subject
    case .text: text
    case .html: html
    case .senderName: senderName
    case .replyTo: replyTo
    }
  }
}

extension EmailTemplate {
  /// Compares byte by byte.
  public static func == (one: Self, other: Self) -> Bool {
    Field.allCases.allSatisfy { one[$0].isSameBytes(as: other[$0]) }
  }
}

extension EmailTemplate {
  /// Reads the template of a kind of email; nil if there's none.
  init?(_ kind: Kind, of mails: JSON?) {
    guard let template = mails?[kind.member] else { return nil }
    func text(_ name: String) -> String { template[name]?.textValue?.text ?? "" }
    subject = text("subject")
    senderName = text("senderDisplayName")
    replyTo = text("replyTo")
    if text("bodyFormat") == "HTML" {
      html = text("body")
      self.text = text("textBody")
    } else {
      self.text = text("body")
    }
    guard !isEmpty else { return nil }
  }

  /// Writes the template into `notification.sendEmail`; an empty one is removed.
  func write(_ kind: Kind, into mails: inout JSON.Object) {
    guard !isEmpty else {
      mails[kind.member] = nil
      return
    }
    mails.changeObject(kind.member) { template in
      func set(_ name: String, _ value: String) {
        template[name] = value.isEmpty ? nil : .string(value)
      }
      set("subject", subject)
      set("senderDisplayName", senderName)
      set("replyTo", replyTo)
      set("body", html.isEmpty ? text : html)
      set("textBody", html.isEmpty ? "" : text)
      set("bodyFormat", html.isEmpty ? (text.isEmpty ? "" : "PLAIN_TEXT") : "HTML")
      template["customized"] = true
    }
  }
}
