import HTTP
import Identity
import Localization
import Templating

extension SignedIn {
  /// The request for an action that requires only a permission.
  var plainRequest: ActionRequest { ActionRequest(agent: session, author: author) }
}

struct ActionForms: Sendable {
  let identity: Identity
  let frames: Frames
  let form: Template<FormView>

  init(_ identity: Identity, _ frames: Frames, _ templates: TemplateLibrary) throws {
    self.identity = identity
    self.frames = frames
    form = try templates.template("forms/form", for: FormView.self)
  }

  func request(_ signedIn: SignedIn) -> ActionRequest {
    ActionInput(signedIn.form).request(signedIn)
  }

  func fields(
    _ action: ConsoleAction, _ signedIn: SignedIn, _ frame: FrameView,
    _ support: SupportEligibility? = nil
  ) async throws -> ActionFields {
    if let support {
      return ActionFields(
        action: action, needsReauthentication: support.asksForCode, isBlocked: false, frame: frame,
        reason: "")
    }
    let eligibility = try await identity.authorization.eligibility(action, signedIn.session)
    return ActionFields(
      action: action, needsReauthentication: eligibility.needsReauthentication,
      isBlocked: eligibility.isBlocked, frame: frame, reason: ActionInput(signedIn.form).note)
  }

  /// The unmet requirements of an action, for a form that has other errors.
  func unmet(_ action: ConsoleAction, _ signedIn: SignedIn) async throws -> [FieldError] {
    let request = request(signedIn)
    do {
      return try await identity.authorization.unmet(action, request).map {
        ActionErrorText.field($0, signedIn.times)
      }
    } catch ActionDenial.noSecondFactor {
      return [Self.blocked(action)]
    }
  }

  /// Returns the field errors of an action that failed; `fault` maps its own failure to one.
  func faults<Reason: Error>(
    _ error: any Error, _ action: ConsoleAction, _ signedIn: SignedIn,
    _ fault: (Reason) throws -> FieldError
  ) async throws -> [FieldError] {
    if let refusal = error as? ActionDenial {
      return try Self.faults(refusal, action, signedIn)
    }
    guard let reason = error as? Reason else { throw error }
    let fault = try fault(reason)
    return [fault] + (try await unmet(action, signedIn))
  }

  static func faults(
    _ refusal: ActionDenial, _ action: ConsoleAction, _ signedIn: SignedIn
  ) throws -> [FieldError] {
    if case .noSecondFactor = refusal { return [blocked(action)] }
    return try ActionErrorText.faults(refusal, signedIn.times, action.requirements.permission)
  }

  private static func blocked(_ action: ConsoleAction) -> FieldError {
    FieldError(
      field: ActionFields.blockedField, text: ActionFields.blockedSentence(action))
  }

  /// Redirects after an action, and sets the session's new token if it was renewed.
  func leave<Value>(
    _ text: Message, link: Link? = nil, _ signedIn: SignedIn,
    after outcome: ActionOutcome<Value>, to path: String
  ) -> Response {
    frames.leave(Flash(text: text, link: link), signedIn, renewed: outcome.renewed, to: path)
  }
}

/// The form fields that an action requires: a reason, and a re-authentication if the last one is
/// older than the interval.
struct ActionFields: ViewModel {
  let action: ConsoleAction
  let needsReauthentication: Bool
  let isBlocked: Bool
  let frame: FrameView
  let reason: String

  static let blockedField = "reauthentication"

  static func blockedSentence(_ action: ConsoleAction) -> Message {
    action.requirements.reauthentication == .secondFactor
      ? Message("Set up a second factor in your account. Then try again.")
      : Message("Set up a second factor in your account or sign in again. Then try again.")
  }

  private var reasonField: Field? {
    guard action.requirements.reason == .written, !isBlocked else { return nil }
    return Field.area(
      "note", Message("Reason"),
      hint: Message(
        """
        Saved to the audit log. Up to {longest} characters. Don’t include codes or passwords.
        """, ["longest": .number(ActionRequest.longestNote)]),
      #" rows="2""#, value: reason, detectsDirection: true
    ).shown(nil, frame)
  }

  private var codeField: CodeField? {
    CodeField(needsReauthentication && !isBlocked, frame, action: nil)
  }

  static let keys: Keys<Self> = [
    .optional("reasonField") { $0.reasonField },
    .optional("codeField") { $0.codeField },
    .flag(\.isBlocked),
    .flag("isAsking") { $0.isBlocked || $0.reasonField != nil || $0.codeField != nil },
    .optional("ways") { $0.isBlocked ? CodeAlternatives($0.frame) : nil },
    .flag("requiresFactor") {
      $0.action.requirements.reauthentication == .secondFactor
    },
    .optional("alternatives") { $0.codeField == nil ? nil : CodeAlternatives($0.frame) },
    .text("ownFactor") { $0.frame.ownFactor },
  ]
}

struct CodeAlternatives: ViewModel {
  private let hasPasskey: Bool
  let provider: ProviderConfirmation?

  init?(_ frame: FrameView) {
    (hasPasskey, provider) = (frame.passkeyReauthentication != nil, frame.providerReauthentication)
    guard hasPasskey || provider != nil else { return nil }
  }

  static let keys: Keys<Self> = [
    .text("passkey") { $0.hasPasskey ? ConsolePaths.passkeyForm() : nil },
    .text("providerForm") { _ in ConsolePaths.providerForm() },
    .optional(\.provider),
  ]
}

extension ActionForms {
  /// The maximum number of users in a file.
  static let longestFile = 100_000

  /// Returns a file about users, which requires the permission to export users and is recorded, or a
  /// page that asks for confirmation, because the list has only a button and no field for a code.
  ///
  /// `name` is the file's without its extension. `read` reads the users, with the filter of their
  /// list for the audit log.
  func download(
    in place: some FormPlace, named name: String, asking page: FormPage, at address: String,
    _ read: () async throws -> (file: CSV, users: DownloadedUsers, filter: Message)
  ) async throws -> Response {
    let signedIn = place.signedIn
    // Avoids reading the users for a request that will be denied.
    let unmet = try await unmet(.exportUsers, signedIn)
    guard !request(signedIn).proof.isEmpty || unmet.isEmpty else {
      return try await show(
        page, of: .exportUsers, in: place, at: address,
        errors: signedIn.form["confirmed"] == nil ? [] : unmet)
    }
    let table = try await read()
    // Exports of users are audited, as exports of the audit log are.
    do {
      let outcome = try await identity.accounts.recordDownload(
        of: table.users, filter: frames.catalog.text(table.filter),
        request(signedIn))
      return frames.renewing(outcome.renewed, in: table.file.response(named: name))
    } catch let refusal as ActionDenial {
      let errors = try Self.faults(refusal, .exportUsers, signedIn)
      return try await show(
        page, of: .exportUsers, in: place, at: address, errors: errors)
    }
  }
}
