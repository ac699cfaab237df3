import HTTP
import Identity
import Localization
import MailText
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
    _ request: Request, _ body: () async throws -> Part
  ) async throws -> Part? {
    do { return try await body() } catch {
      guard Failure(of: error) != nil, !Task.isCancelled else { throw error }
      report(.failed(cause: "\(error)"), of: request)
      return nil
    }
  }

  /// The page for a status that the HTTP server itself answers with, such as 413.
  func page(_ status: Status, requestID: String?) -> Response {
    let fault = Fault(status)
    return page(fault, frames.bare(fault.heading, for: nil), requestID: requestID)
  }

  /// Responds with a page for a signed-in administrator, or with the page of its refusal.
  func respond(
    to request: Request, _ page: (SignedIn) async throws -> Response
  ) async -> Response {
    var found: SignedIn?
    do {
      let signedIn = try await authorizer.signedIn(request)
      found = signedIn
      return try await page(signedIn)
    } catch {
      return await self.page(error, for: request, found)
    }
  }

  /// The page of whatever a page threw; `found` is the administrator if the request was
  /// authenticated.
  func page(_ error: any Error, for request: Request, _ found: SignedIn? = nil) async -> Response {
    if let refusal = Refusal(error) { return await page(refusal, for: request, found) }
    log(request.id, .failed(cause: "\(error)"))
    return unsigned(Fault(.serviceUnavailable), request)
  }

  private func page(
    _ refusal: Refusal, for request: Request, _ found: SignedIn? = nil
  ) async -> Response {
    switch refusal {
    case .signInFirst(let next, let kept):
      return .redirect(to: Self.signIn(thenTo: next, kept))
    case .sessionEnded:
      return await page(await authorizer.signInFirst(request), for: request)
    case .formKept(let mark):
      return .redirect(to: Drafts.address(mark))
    case .secondFactorFirst(.passkeyUnused, let next):
      return .redirect(
        to: ReturnAddress.of(ConsolePaths.passkeyReauthentication(), backTo: next))
    case .secondFactorFirst(.passkeyDue, let next):
      return .redirect(to: ReturnAddress.of(ConsolePaths.newPasskey(), backTo: next))
    case .secondFactorFirst(_, let next):
      return .redirect(to: ReturnAddress.of(ConsolePaths.ownFactor(), backTo: next))
    case .notFound:
      return await page(Fault(.notFound), for: request, found)
    case .notOffered(let capability):
      return await page(Fault(notOffered: capability), for: request, found)
    case .notAllowed(let permission):
      let signedIn = await known(request, found)
      if let signedIn { log(request.id, .denied(signedIn.actor, lacking: permission)) }
      return await page(Fault(needing: permission, helpers: []), for: signedIn, request)
    case .lacking(let lack):
      log(request.id, .denied(lack.signedIn.actor, lacking: lack.permission))
      let fault = Fault(needing: lack.permission, helpers: lack.helpers)
      let frame = await frames.frame(fault.heading, for: lack.signedIn)
      return page(fault, frame, requestID: request.id.text)
    case .foreignForm:
      return unsigned(.foreignForm(publicURL), request)
    case .staleForm:
      return await page(Fault.staleForm(back: request.target.rawPath), for: request, found)
    case .notAForm:
      return await page(Fault(.unsupportedMediaType), for: request, found)
    case .malformedForm(let error):
      var fault = Fault(.badRequest)
      fault.detail = error.message
      return await page(fault, for: request, found)
    case .unreadableForm:
      return await page(Fault(.badRequest), for: request, found)
    case .busy:
      var response = await page(Fault.busy, for: request, found)
      response.fields[.retryAfter] = "1"
      return response
    case .elsewhere(let path, let text, let session):
      if let text { frames.flashes.leave(Flash(text: text), for: session) }
      return .redirect(to: path)
    }
  }

  /// The page in the signed-in administrator's frame, with their theme and navigation, if there is
  /// a session.
  private func page(_ fault: Fault, for request: Request, _ found: SignedIn?) async -> Response {
    await page(fault, for: await known(request, found), request)
  }

  private func known(_ request: Request, _ found: SignedIn?) async -> SignedIn? {
    // A form may have ended the session, or changed its roles.
    guard request.isReading, let found else { return await authorizer.known(request) }
    return found.session.secondFactor.isReady ? found : nil
  }

  private func page(_ fault: Fault, for signedIn: SignedIn?, _ request: Request) async -> Response {
    guard let signedIn else { return unsigned(fault, request) }
    // A pending flash stays for the next page: it belongs to an action, not to this error.
    return page(
      fault, await frames.unflashed(fault.heading, for: signedIn), requestID: request.id.text)
  }

  private func unsigned(_ fault: Fault, _ request: Request) -> Response {
    page(fault, frames.bare(fault.heading, for: request), requestID: request.id.text)
  }

  private func page(_ fault: Fault, _ frame: Frame, requestID: String?) -> Response {
    var frame = frame
    // The page has nothing that a time would explain.
    frame.asOf = nil
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
  var wayText = Message("Back to projects")
}

extension Fault {
  init(_ status: Status) {
    self.status = status
    switch status.code {
    case 400:
      heading = Message("Invalid request")
      sentence = Message(
        """
        Your browser sent data that’s corrupted or isn’t valid text. Go back and submit the form \
        again.
        """)
    case 401:
      heading = Message("Sign in first")
      sentence = Message(
        "You aren’t signed in, or your session has ended. What you entered wasn’t received.")
      detail = Message("Sign in, open the page again, and repeat your last step.")
      way = ConsolePaths.signIn()
      wayText = Message("Sign in")
    case 404:
      heading = Message("Page not found")
      sentence = Message("This page doesn’t exist, or you don’t have access to it.")
      detail = Message(
        "If someone sent you this link, check whether your role covers that project or tenant.")
    case 405:
      heading = Message("Method not allowed")
      sentence = Message("This page doesn’t support the HTTP method of the request.")
    case 413:
      heading = Message("Request too large")
      sentence = Message(
        """
        The request is larger than this page accepts. Nothing was saved. Go back, shorten what \
        you entered, and try again.
        """)
    case 414, 431:
      heading = Message("URL or headers too long")
      sentence = Message(
        """
        The URL or a header of the request is longer than the server accepts. Shorten the URL, or \
        clear this site’s cookies, and try again.
        """)
    case 415:
      heading = Message("Unsupported content type")
      sentence = Message("This page accepts only HTML form submissions.")
    case 408:
      heading = Message("Request timed out")
      sentence = Message("The request didn’t arrive in time. Nothing was saved. Submit it again.")
    case 503:
      heading = Message("Service unavailable")
      sentence = Message(
        "The database isn’t responding or can’t be written to. This request made no changes.")
      detail = Message(
        """
        Try again in a minute. If the problem persists, ask the person who operates the server to \
        check its log.
        """)
    case 500..<600:
      heading = Message("Something went wrong")
      sentence = Message(
        "An error occurred on the server. The server log has details under the request ID below.")
    default:
      heading = Message("Request failed")
      sentence = Message("The server couldn’t complete this request.")
      detail = Message("HTTP status: {status}", ["status": .text(status.description)])
    }
  }

  init(notOffered capability: Capability) {
    self.init(
      status: .notFound, heading: Message("Page not found"), sentence: capability.refusal)
  }

  init(needing permission: Permission, helpers: [String]) {
    let roles = Permission.manageAdministrators.roleNames
    self.init(
      status: .forbidden, heading: Message("You don’t have access"),
      sentence: permission.requirement,
      detail: helpers.isEmpty
        ? Message(
          """
          Ask someone who has the role to do this, or ask for the role. Granting it requires the \
          {roles} role on the instance.
          """, ["roles": roles])
        : Message(
          """
          {names} can do this here. Ask them to do it, or ask for the role. Granting it requires \
          the {roles} role on the instance.
          """, ["names": .names(helpers.map { Formatted.short($0) }), "roles": roles]))
  }

  static func foreignForm(_ publicURL: PublicURL) -> Fault {
    let address = Message.Value.text(publicURL.origin)
    return Fault(
      status: .forbidden, heading: Message("Form submitted from another site"),
      sentence: Message(
        "No changes made. Countersign accepts forms only from its own pages, at {address}.",
        ["address": address]),
      detail: Message(
        "If you opened Countersign at a different address, use this one instead and try again."),
      way: publicURL.origin + ConsolePaths.home(),
      wayText: Message("Open {address}", ["address": address]))
  }

  static func staleForm(back: String) -> Fault {
    Fault(
      status: .forbidden, heading: Message("This form is no longer valid"),
      sentence: Message(
        "No changes made. You opened the page in another session, or your browser blocks cookies."),
      detail: Message(
        "What you entered wasn’t kept. Open the page again and repeat your last step."), way: back,
      wayText: Message("Open the page again"))
  }

  static let busy = Fault(
    status: .serviceUnavailable, heading: Message("Server busy"),
    sentence: Message(
      "The server is checking too many passwords. No changes made. Try again in a moment."))
}

extension Permission {
  var requirement: Message {
    let roles = roleNames
    return switch self {
    case .seePool: Message("Your roles don’t include this page.")
    case .readPolicy: Message("Viewing the MFA policy requires a role in this project or tenant.")
    case .changePolicy:
      Message("Changing the MFA policy requires the {roles} role.", ["roles": roles])
    case .signOffReview:
      Message("Signing off on policy reviews requires the {roles} role.", ["roles": roles])
    case .createProject:
      Message("Creating projects requires the {roles} role on the instance.", ["roles": roles])
    case .changePool: Message("Changing settings requires the {roles} role.", ["roles": roles])
    case .manageTenants:
      Message(
        "Creating and deleting tenants requires the {roles} role on the project.",
        ["roles": roles])
    case .deleteProject:
      Message(
        "Deleting a project requires the {roles} role on the project or the instance.",
        ["roles": roles])
    case .manageKeys:
      Message("Managing keys and tokens requires the {roles} role.", ["roles": roles])
    case .manageTrust:
      Message(
        "Managing identity providers and custom token signing keys requires the {roles} role.",
        ["roles": roles])
    case .changeLinks:
      Message(
        "Changing the destination of email links requires the {roles} role.", ["roles": roles])
    case .findUsers: Message("Searching users requires the {roles} role.", ["roles": roles])
    case .changeUsers: Message("Changing users requires the {roles} role.", ["roles": roles])
    case .exportUsers: Message("Downloading users requires the {roles} role.", ["roles": roles])
    case .removeFactors: Message("Support actions require the {roles} role.", ["roles": roles])
    case .endSessions: Message("Ending sessions requires the {roles} role.", ["roles": roles])
    case .editSupportRules:
      Message("Changing support rules requires the {roles} role.", ["roles": roles])
    case .protectUsers: Message("This action requires the {roles} role.", ["roles": roles])
    case .readMessages:
      Message("Opening messages to users requires the {roles} role.", ["roles": roles])
    case .seeApprovals: Message("Viewing approvals requires the {roles} role.", ["roles": roles])
    case .readAudit: Message("Viewing the audit log requires the {roles} role.", ["roles": roles])
    case .seeAdministrators:
      Message("Viewing administrators requires the {roles} role.", ["roles": roles])
    case .manageAdministrators:
      Message("Managing administrators requires the {roles} role.", ["roles": roles])
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
