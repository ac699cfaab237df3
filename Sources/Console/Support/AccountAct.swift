import HTTP
import Identity

/// A support action on a whole account, with its own confirmation page.
enum AccountAct: Sendable {
  /// `S/users/{uid}/unlock`
  case unlock
  /// `S/users/{uid}/sessions/end`
  case endSessions
  /// `S/users/{uid}/protection`: protects the account, or removes the protection.
  case protection
  /// `S/users/{uid}/allowed-changes`
  case allowChanges
  /// `S/users/{uid}/disabling`
  case disabling
  /// `S/users/{uid}/enabling`
  case enabling
  /// `S/users/{uid}/verification`: marks the email address as verified.
  case verification
  /// `S/users/{uid}/deletion`
  case deletion

  /// The corresponding action in the permission table.
  var action: ConsoleAction {
    switch self {
    case .unlock: .unlockCodes
    case .endSessions: .endSessions
    case .protection: .protectUser
    case .allowChanges: .allowChanges
    case .disabling: .disableUser
    case .enabling: .enableUser
    case .verification: .verifyEmail
    case .deletion: .deleteUser
    }
  }

  var permission: Permission { action.requirements.permission }

  private var path: ScopePath1 {
    switch self {
    case .unlock: ConsolePaths.unlock
    case .endSessions: ConsolePaths.endOfSessions
    case .protection: ConsolePaths.protection
    case .allowChanges: ConsolePaths.allowedChanges
    case .disabling: ConsolePaths.disabling
    case .enabling: ConsolePaths.enabling
    case .verification: ConsolePaths.verification
    case .deletion: ConsolePaths.deletion
    }
  }

  /// Whether the account is already in the state that the action leads to.
  func isDone(_ account: Account) -> Bool {
    switch self {
    case .unlock: account.wrongCodes == 0 && account.codesBlockedUntil == nil
    case .allowChanges: account.changesLockedAt == nil
    case .disabling: account.disabled
    case .enabling: !account.disabled
    case .verification: account.email == nil || account.emailVerified
    case .endSessions, .protection, .deletion: false
    }
  }

  /// Describes the action for its confirmation page.
  ///
  /// - Parameters:
  ///   - account: The user to act on.
  ///   - sessions: The number of active sessions.
  ///   - notice: A sentence on whether the user is notified; nil for a user without an address.
  ///   - context: The pool and the administrator.
  /// - Returns: The confirmation page's content.
  func question(
    _ account: Account, sessions: Int, notice: String?, _ context: ScopeContext
  ) -> SupportConfirmation {
    var question = asked(account, sessions: sessions, notice: notice, context)
    question.performs = self.action
    return question
  }

  private func asked(
    _ account: Account, sessions: Int, notice: String?, _ context: ScopeContext
  ) -> SupportConfirmation {
    let action = path(context.scope, account.id.text)
    let name = account.label
    let open = SessionWords.ending(sessions, none: "There are no active sessions.")
    switch self {
    case .unlock:
      var question = SupportConfirmation(
        title: "Unlock codes", heading: HTML.heading("Unlock codes for", name),
        consequences: [
          "The count of \(Words.count(account.wrongCodes, "consecutive incorrect code", "consecutive incorrect codes")) is reset, and codes are accepted again immediately.",
          "Incorrect codes can be someone else’s guesses. Ask the user about them first.",
          notice,
        ].compactMap { $0 }, button: "Unlock codes", keep: "Cancel",
        action: action)
      question.isDestructive = false
      question.reasons = [.locked, .mistake, .other]
      return question
    case .endSessions:
      var question = SupportConfirmation(
        title: "End all sessions", heading: HTML.heading("End all sessions for", name),
        consequences: [
          open, "The user can sign in again immediately.",
          sessions == 0 ? nil : notice,
        ].compactMap { $0 }, button: "End all sessions", keep: "Cancel",
        action: action)
      question.reasons = [.lost, .stolen, .compromised, .left, .other]
      return question
    case .protection where account.isProtected:
      var question = SupportConfirmation(
        title: "Remove protection", heading: HTML.heading("Remove protection from", name),
        consequences: ["Every administrator whose role allows it can act on this account again."],
        button: "Remove protection", keep: "Cancel", action: action)
      question.reasons = [.left, .mistake, .other]
      return question
    case .protection:
      var question = SupportConfirmation(
        title: "Protect account", heading: HTML.heading("Protect", name),
        consequences: [
          "Only \(Permission.protectUsers.holders) can act on this account. Other administrators can still view it and add notes.",
          "Use protection for accounts with broad access, such as those of executives.",
        ], button: "Protect account", keep: "Cancel", action: action)
      question.isDestructive = false
      question.reasons = [.compromised, .other]
      return question
    case .allowChanges:
      let since = account.changesLockedAt.map(context.signedIn.times.words) ?? ""
      var question = SupportConfirmation(
        title: "Allow changes again", heading: HTML.heading("Allow changes again for", name),
        consequences: [
          "On \(since), the user reported a change to their second factors that they didn’t make. Their second factors have been locked since then.",
          "Find out what happened first. The history shows who changed what. Contact the user through a channel you trust.",
          "Second factors of this account can then be removed, suspended, and unlocked as usual.",
          notice,
        ].compactMap { $0 }, button: "Allow changes again", keep: "Cancel", action: action
      )
      question.reasons = [.found, .mistake, .other]
      return question
    case .disabling:
      var question = SupportConfirmation(
        title: "Disable user", heading: HTML.heading("Disable", name),
        consequences: [
          "The user can’t sign in until an administrator enables the account again.", open,
        ], button: "Disable user", keep: "Cancel", action: action)
      question.reasons = [.left, .compromised, .stolen, .other]
      return question
    case .enabling:
      var question = SupportConfirmation(
        title: "Enable user", heading: HTML.heading("Enable", name),
        consequences: [
          "The user can sign in again with their existing password and second factors.",
          "The history shows who disabled the account and why.",
        ], button: "Enable user", keep: "Cancel", action: action)
      question.isDestructive = false
      question.reasons = [.found, .mistake, .other]
      return question
    case .verification:
      var question = SupportConfirmation(
        title: "Mark email as verified",
        heading: HTML.heading("Mark the email of", name, " as verified?"),
        consequences: [
          "The address is treated as the user’s own: authenticator setup links can be sent to it, and the user can enroll.",
          "In the note, say how you verified the address. If you can, have the application send a verification email instead.",
        ], button: "Mark email as verified", keep: "Cancel", action: action)
      question.isDestructive = false
      question.reasons = [.other, .mistake]
      return question
    case .deletion:
      let factors = account.factors.map { "“\(Words.isolated($0.label))”" }.joined(separator: ", ")
      var question = SupportConfirmation(
        title: "Delete user", heading: HTML.heading("Delete", name),
        consequences: [
          "The account is deleted, along with its password, name, and custom claims.",
          account.factors.isEmpty
            ? "The account has no second factor."
            : "\(Words.count(account.factors.count, "second factor is", "second factors are")) deleted: \(factors).",
          open,
          notice,
          "This can’t be undone. The account’s history stays in the audit log.",
        ].compactMap { $0 }, button: "Delete user", keep: "Cancel", action: action)
      question.reasons = [.left, .mistake, .other]
      question.confirmation = ConfirmationField(
        account: account, typed: context.signedIn.form.trimmed("confirmation"))
      return question
    }
  }

  /// Performs the action.
  ///
  /// - Returns: A sentence that confirms the action, and the renewed session if a code was given.
  func perform(
    _ account: Account, _ support: Support, in scope: Scope, _ request: ActionRequest
  ) async throws(ActionDenial) -> (text: String, renewed: NewConsoleSession?) {
    let id = account.id
    switch self {
    case .unlock:
      let done = try await support.unlock(scope, id, request)
      return ("Codes unlocked.", done.renewed)
    case .endSessions:
      let done = try await support.endSessions(scope, id, request)
      return (SessionWords.ended(done.value), done.renewed)
    case .protection:
      let done = try await support.protect(scope, id, !account.isProtected, request)
      return (
        account.isProtected
          ? "Protection removed."
          : "The account is protected. Only \(Permission.protectUsers.holders) can act on it.",
        done.renewed
      )
    case .allowChanges:
      let done = try await support.allowChanges(scope, id, request)
      return ("Second factors of this user can be changed again.", done.renewed)
    case .disabling:
      let done = try await support.disable(scope, id, request)
      return (
        "User disabled. \(SessionWords.ended(done.value))", done.renewed
      )
    case .enabling:
      let done = try await support.enable(scope, id, request)
      return ("User enabled.", done.renewed)
    case .verification:
      let done = try await support.verifyEmail(scope, id, request)
      return ("Email marked as verified.", done.renewed)
    case .deletion:
      let done = try await support.delete(scope, id, request)
      return ("Deleted user \(Words.isolated(account.label)).", done.renewed)
    }
  }
}
