/// The text of a notice: the change, its consequence, and how to report it.
struct NoticeText {
  let notice: UserNotice
  let application: String
  /// The account's email address; nil if the notice goes to another address, to keep it private.
  let email: String?
  let at: Instant
  /// The link to report the change; nil if the user should contact support instead.
  let reportedChange: String?

  var subject: String {
    let done =
      switch notice {
      case .factorsRemoved(let names) where names.count > 1: "your second factors were removed"
      case .factorWithdrawn, .factorsRemoved, .factorReverted: "a second factor was removed"
      case .factorsAdded(let names):
        names.count > 1 ? "second factors were added" : "a second factor was added"
      case .factorEnrolled: "a second factor was enrolled"
      case .factorsRestored(let names):
        names.count > 1 ? "your second factors were restored" : "a second factor was restored"
      case .factorSuspended: "a second factor was suspended"
      case .factorResumed: "a second factor works again"
      case .factorRenamed: "a second factor was renamed"
      case .changesAllowed: "your second factors can be changed again"
      case .codesUnlocked: "your codes work again"
      case .sessionsEnded: "you were signed out everywhere"
      case .temporaryCodeMade: "a temporary code was generated"
      case .temporaryCodeEnded: "a temporary code was revoked"
      case .recoveryCodesMade: "new recovery codes were generated"
      case .recoveryCodesVoided: "your recovery codes were revoked"
      case .recoveryCodeUsed: "a recovery code was used"
      case .enrollmentLinkSent: "a link to set up an authenticator app was sent"
      case .factorEnrolledByLink: "an authenticator app was set up"
      case .passwordChanged: "your password was changed"
      case .providerLinked: "another sign-in method was added"
      case .emailChanged: "your email address was changed"
      case .accountDeleted: "your account was deleted"
      }
    return "\(application): \(done)"
  }

  var body: String {
    """
    Hello,

    \(happened)

    \(consequence)

    \(advice)

    This email is about the security of \(account). You can't turn these emails off, and replies \
    aren't read.

    """
  }

  private var account: String {
    email.map { "your account \($0) at \(application)" }
      ?? "your account at \(application) (which has this email address on file)"
  }

  private var happened: String {
    switch notice {
    case .providerLinked(let name):
      """
      On \(at.formatted), sign-in with \(Self.plain(name)) was added to \(account).
      """
    case .passwordChanged:
      "On \(at.formatted), the password of \(account) was changed. \(byOthers)"
    case .emailChanged:
      """
      On \(at.formatted), the email address of your account at \(application) was changed. It's no \
      longer \(email ?? "this one"). \(byOthers)
      """
    case .accountDeleted: "On \(at.formatted), \(account) was deleted. \(byOthers)"
    case .factorWithdrawn:
      """
      On \(at.formatted), \(notice.fact) from \(account) by someone who was signed in to it.
      """
    case .factorReverted:
      """
      On \(at.formatted), \(notice.fact) from \(account) with the link in the email about it.
      """
    case .factorsAdded: "On \(at.formatted), \(notice.fact) to \(account). \(byOthers)"
    case .factorEnrolled:
      """
      On \(at.formatted), \(notice.fact) for \(account) by someone who was signed in to it.
      """
    case .factorsRemoved: "On \(at.formatted), \(notice.fact) from \(account). \(byOthers)"
    case .recoveryCodesMade, .recoveryCodeUsed:
      "On \(at.formatted), \(notice.fact). This concerns \(account). \(byUser)"
    case .factorEnrolledByLink:
      "On \(at.formatted), \(notice.fact). This concerns \(account)."
    default: "On \(at.formatted), \(notice.fact). This concerns \(account). \(byOthers)"
    }
  }

  private var byOthers: String {
    "This was done by the support team of \(application) or by one of its programs."
  }

  private var byUser: String { "This was done by someone who signed in to your account." }

  private var consequence: String {
    switch notice {
    case .factorWithdrawn:
      "Codes from a removed factor are no longer required to sign in."
    case .factorReverted:
      """
      Codes from a removed factor are no longer required to sign in. You've been signed out \
      everywhere.
      """
    case .factorsAdded, .factorEnrolled:
      "From now on, a code from an added factor can be required when you sign in."
    case .factorsRemoved:
      """
      Codes from a removed factor are no longer required to sign in. You've been signed out \
      everywhere.
      """
    case .factorsRestored:
      "From now on, a code from a restored factor is required again when you sign in."
    case .factorSuspended:
      """
      A code is still required when you sign in, but codes from this factor are rejected during \
      that time. The suspension ends automatically.
      """
    case .factorRenamed:
      "From now on, the new name is shown when its code is required. Its codes work as before."
    case .changesAllowed:
      "From now on, second factors of your account can be removed and added again."
    case .factorResumed, .codesUnlocked:
      "From now on, codes from your authenticator app work as before."
    case .sessionsEnded: "Sign in again with your password and your second factor."
    case .temporaryCodeMade:
      "Don't share the code with anyone. We never ask you for it."
    case .temporaryCodeEnded: "It can no longer be used to sign in."
    case .recoveryCodesMade: "Each code lets you sign in once if you don't have your device."
    case .recoveryCodesVoided: "They can no longer be used to sign in."
    case .recoveryCodeUsed: "It can't be used again."
    case .enrollmentLinkSent: "The link is single use and expires in 30 minutes."
    case .factorEnrolledByLink: "From now on, its codes are required when you sign in."
    case .passwordChanged:
      "The old password no longer works. You've been signed out everywhere."
    case .providerLinked:
      "From now on, anyone who can sign in there can sign in to your account."
    case .emailChanged:
      "Emails about the account go to the new address. You've been signed out everywhere."
    case .accountDeleted:
      "No one can sign in to it anymore. You've been signed out everywhere."
    }
  }

  private var advice: String {
    guard let reportedChange else {
      return """
        If you didn't do or request this, someone may be trying to access your account. Contact \
        the support team of \(application) immediately.
        """
    }
    return Self.advice(reportedChange, application)
  }

  /// The paragraph that explains how to report the change.
  static func advice(_ reportedChange: String, _ application: String) -> String {
    """
    If you didn't do or request this, open this page within seven days to report it:

    \(reportedChange)

    You'll be signed out everywhere, your second factors can't be changed until your report has \
    been reviewed, and the administrators of \(application) are notified.
    """
  }

  /// The name of the application, and of the tenant where there is one.
  static func application(_ scope: Scope) -> String {
    scope.tenant == nil
      ? plain(scope.projectName) : "\(plain(scope.projectName)) (\(plain(scope.name)))"
  }

  /// Formats a user-chosen name for an email: on one line, without characters that mail clients
  /// turn into links.
  static func unlinked(_ name: String, longest: Int = Factor.longestName) -> String {
    var result = String.UnicodeScalarView()
    let scalars = Array(plain(name).unicodeScalars.prefix(longest))
    for (index, scalar) in scalars.enumerated() {
      let next = index + 1 < scalars.count ? scalars[index + 1] : " "
      switch scalar {
      case "@", "/", "\\": result.append(" ")
      case ".", ":", "\u{3002}", "\u{FF0E}", "\u{FF61}":
        result.append(next.properties.isAlphabetic || next == "/" ? " " : scalar)
      default: result.append(scalar)
      }
    }
    return String(result)
  }

  /// Formats a name on one line, without control characters and bidirectional marks.
  static func plain(_ name: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
      switch scalar.value {
      case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: result.append(" ")
      case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: continue
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}
