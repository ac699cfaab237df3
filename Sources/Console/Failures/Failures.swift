import HTTP
import Identity
import Localization
import Templating

struct Failures: Sendable {
  private let template: Template<FailureView>
  private let frames: Frames
  private let authorizer: RequestAuthorizer
  private let publicURL: PublicURL
  private let log: @Sendable (RequestID, RequestEvent) -> Void

  init(
    templates: TemplateLibrary, frames: Frames, authorizer: RequestAuthorizer, publicURL: PublicURL,
    log: @escaping @Sendable (RequestID, RequestEvent) -> Void
  ) throws {
    template = try templates.template("failures/failure", for: FailureView.self)
    self.frames = frames
    self.authorizer = authorizer
    self.publicURL = publicURL
    self.log = log
  }

  /// Logs why a request failed, if that isn't shown to the client.
  func report(_ event: RequestEvent, of request: Request) { log(request.id, event) }

  /// Reads a part of a page that the rest of the page doesn't depend on.
  ///
  /// - Returns: The part; nil if the database failed, which is logged.
  /// - Throws: Any other refusal, and that of a canceled request.
  func optional<Part>(
    _ request: Request, _ body: () async throws(Refusal) -> Part
  ) async throws(Refusal) -> Part? {
    do throws(Refusal) { return try await body() } catch {
      guard case .unavailable(let cause) = error, Failure(of: cause) != nil, !Task.isCancelled
      else { throw error }
      report(.failed(cause: "\(cause)"), of: request)
      return nil
    }
  }

  /// The page for a status that the HTTP server itself answers with, such as 413.
  func page(_ status: Status, requestID: String?) -> Response {
    let fault = Fault(status)
    return page(fault, frames.bare(fault.heading, for: nil), requestID: requestID)
  }

  func page(_ refusal: Refusal, for request: Request) async -> Response {
    switch refusal {
    case .signInFirst(let next, let kept):
      return .redirect(to: Self.signIn(thenTo: next, kept))
    case .sessionEnded:
      return await page(await authorizer.signInFirst(request), for: request)
    case .formKept(let mark):
      return .redirect(to: KeptAnswersPage.address(mark))
    case .secondFactorFirst(.passkeyUnused, let next):
      return .redirect(
        to: ReauthenticationPage.address(ConsolePaths.passkeyReauthentication(), backTo: next))
    case .secondFactorFirst(.passkeyDue, _):
      return .redirect(to: ConsolePaths.newPasskey())
    case .secondFactorFirst:
      return .redirect(to: ConsolePaths.ownFactor())
    case .notFound:
      return await page(Fault(.notFound), for: request)
    case .notAllowed(let permission):
      let signedIn = await authorizer.known(request)
      if let signedIn { log(request.id, .denied(signedIn.actor, lacking: permission)) }
      return page(Fault(needing: permission, helpers: []), for: signedIn, request)
    case .lacking(let lack):
      log(request.id, .denied(lack.signedIn.actor, lacking: lack.permission))
      let fault = Fault(needing: lack.permission, helpers: lack.helpers)
      let frame = frames.frame(fault.heading, for: lack.signedIn)
      return page(fault, frame, requestID: request.id.text)
    case .foreignForm:
      return unsigned(.foreignForm(publicURL), request)
    case .staleForm:
      return await page(Fault.staleForm(back: request.target.rawPath), for: request)
    case .notAForm:
      return await page(Fault(.unsupportedMediaType), for: request)
    case .malformedForm(let error):
      var fault = Fault(.badRequest)
      fault.detail = error.message
      return await page(fault, for: request)
    case .unreadableForm:
      return await page(Fault(.badRequest), for: request)
    case .busy:
      var response = await page(Fault.busy, for: request)
      response.fields[.retryAfter] = "1"
      return response
    case .unavailable(let cause):
      log(request.id, .failed(cause: "\(cause)"))
      return unsigned(Fault(.serviceUnavailable), request)
    }
  }

  /// The page in the signed-in administrator's frame, with their theme and navigation, if there is
  /// a session.
  private func page(_ fault: Fault, for request: Request) async -> Response {
    page(fault, for: await authorizer.known(request), request)
  }

  private func page(_ fault: Fault, for signedIn: SignedIn?, _ request: Request) -> Response {
    guard let signedIn else { return unsigned(fault, request) }
    // A pending flash stays for the next page: it belongs to an action, not to this error.
    return page(
      fault, frames.unflashed(fault.heading, for: signedIn), requestID: request.id.text)
  }

  private func unsigned(_ fault: Fault, _ request: Request) -> Response {
    page(fault, frames.bare(fault.heading, for: request), requestID: request.id.text)
  }

  private func page(_ fault: Fault, _ frame: Frame, requestID: String?) -> Response {
    var frame = frame
    frame.isNarrow = true
    let view = FailureView(frame: FrameView(frame), fault: fault, requestID: requestID)
    return .html(template.render(view), status: fault.status)
  }

  private static func signIn(thenTo next: String?, _ kept: KeptForm) -> String {
    var query = Form()
    if let next { query.add("next", next) }
    switch kept {
    case .ignored: break
    case .kept: query.add("kept", "1")
    case .lost: query.add("lost", "1")
    }
    return query.query(of: ConsolePaths.signIn())
  }
}

struct Fault: Sendable {
  let status: Status
  let heading: Message
  let sentence: Message
  var detail: Message?
  var way = ConsolePaths.projects()
  var wayText = Message("failures.go-to-projects")
}

extension Fault {
  init(_ status: Status) {
    self.status = status
    switch status.code {
    case 400:
      heading = Message("failures.invalid-request")
      sentence = Message("failures.invalid-request-sentence")
    case 404:
      heading = Message("failures.not-found")
      sentence = Message("failures.not-found-sentence")
      detail = Message("failures.not-found-detail")
    case 405:
      heading = Message("failures.method")
      sentence = Message("failures.method-sentence")
    case 413:
      heading = Message("failures.too-large")
      sentence = Message("failures.too-large-sentence")
    case 414, 431:
      heading = Message("failures.too-long")
      sentence = Message("failures.too-long-sentence")
    case 415:
      heading = Message("failures.not-a-form")
      sentence = Message("failures.not-a-form-sentence")
    case 408:
      heading = Message("failures.timeout")
      sentence = Message("failures.timeout-sentence")
    case 503:
      heading = Message("failures.unavailable")
      sentence = Message("failures.unavailable-sentence")
      detail = Message("failures.unavailable-detail")
    case 500..<600:
      heading = Message("failures.error")
      sentence = Message("failures.error-sentence")
    default:
      heading = Message("failures.failed")
      sentence = Message("failures.failed-sentence")
      detail = Message("failures.status", ["status": .text(status.description)])
    }
  }

  init(needing permission: Permission, helpers: [String]) {
    let granter = Message.Value.message(Permission.manageAdministrators.holder)
    self.init(
      status: .forbidden, heading: Message("failures.no-access"),
      sentence: permission.requirement,
      detail: helpers.isEmpty
        ? Message("failures.ask-for-role", ["granter": granter])
        : Message(
          "failures.ask-helpers",
          ["names": .names(helpers.map { Formatted.short($0) }), "granter": granter]))
  }

  static func foreignForm(_ publicURL: PublicURL) -> Fault {
    let address = Message.Value.text(publicURL.origin)
    return Fault(
      status: .forbidden, heading: Message("failures.foreign-form"),
      sentence: Message("failures.foreign-form-sentence", ["address": address]),
      detail: Message("failures.foreign-form-detail"),
      way: publicURL.origin + ConsolePaths.projects(),
      wayText: Message("failures.open-address", ["address": address]))
  }

  static func staleForm(back: String) -> Fault {
    Fault(
      status: .forbidden, heading: Message("failures.stale-form"),
      sentence: Message("failures.stale-form-sentence"),
      detail: Message("failures.stale-form-detail"), way: back,
      wayText: Message("failures.open-again"))
  }

  static let busy = Fault(
    status: .serviceUnavailable, heading: Message("failures.busy"),
    sentence: Message("failures.busy-sentence"))
}

extension Permission {
  var requirement: Message {
    let roles = Message.Value.message(roleNames)
    return switch self {
    case .seeScope: Message("failures.needs-see-scope")
    case .readPolicy: Message("failures.needs-read-policy")
    case .changePolicy: Message("failures.needs-change-policy", ["roles": roles])
    case .signOffReview: Message("failures.needs-sign-off-review", ["roles": roles])
    case .createProject: Message("failures.needs-create-project", ["roles": roles])
    case .changeScope: Message("failures.needs-change-scope", ["roles": roles])
    case .manageTenants: Message("failures.needs-manage-tenants", ["roles": roles])
    case .deleteProject: Message("failures.needs-delete-project", ["roles": roles])
    case .manageKeys: Message("failures.needs-manage-keys", ["roles": roles])
    case .manageTrust: Message("failures.needs-manage-trust", ["roles": roles])
    case .changeLinks: Message("failures.needs-change-links", ["roles": roles])
    case .findUsers: Message("failures.needs-find-users", ["roles": roles])
    case .changeUsers: Message("failures.needs-change-users", ["roles": roles])
    case .exportUsers: Message("failures.needs-export-users", ["roles": roles])
    case .removeFactors: Message("failures.needs-remove-factors", ["roles": roles])
    case .endSessions: Message("failures.needs-end-sessions", ["roles": roles])
    case .editSupportRules: Message("failures.needs-edit-support-rules", ["roles": roles])
    case .protectUsers: Message("failures.needs-protect-users", ["roles": roles])
    case .readMessages: Message("failures.needs-read-messages", ["roles": roles])
    case .seeApprovals: Message("failures.needs-see-approvals", ["roles": roles])
    case .readAudit: Message("failures.needs-read-audit", ["roles": roles])
    case .seeAdministrators: Message("failures.needs-see-administrators", ["roles": roles])
    case .manageAdministrators: Message("failures.needs-manage-administrators", ["roles": roles])
    }
  }
}

struct FailureView: ViewModel {
  let frame: FrameView
  let fault: Fault
  let requestID: String?

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("heading") { $0.fault.heading },
    .text("sentence") { $0.fault.sentence },
    .text("detail") { $0.fault.detail },
    .text("way") { $0.fault.way },
    .text("wayText") { $0.fault.wayText },
    .text(\.requestID),
  ]
}
