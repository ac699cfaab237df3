import HTTP
import Identity
import Templating

/// Renders the error pages.
struct Failures: Sendable {
  private let template: Template<FailureView>
  private let frames: Frames
  private let gate: Gate
  private let publicURL: PublicURL
  private let log: @Sendable (String) -> Void

  init(
    templates: TemplateLibrary, frames: Frames, gate: Gate, publicURL: PublicURL,
    log: @escaping @Sendable (String) -> Void
  ) throws {
    template = try templates.template("failures/failure", for: FailureView.self)
    self.frames = frames
    self.gate = gate
    self.publicURL = publicURL
    self.log = log
  }

  /// The page for a status that the HTTP server itself answers with, such as 413.
  func page(_ status: Status, requestID: String?) -> Response {
    page(Fault(status), requestID: requestID)
  }

  /// The page for a refused request.
  func page(_ refusal: Refusal, for request: Request) async -> Response {
    let id = request.id.text
    switch refusal {
    case .signInFirst(let next, let isKept):
      return .redirect(to: Self.signIn(thenTo: next, isKept: isKept))
    case .secondFactorFirst:
      return .redirect(to: ConsolePaths.ownFactor())
    case .notFound:
      return await page(Fault(.notFound), for: request)
    case .notAllowed(let permission):
      return await page(Fault(needing: permission, helpers: []), for: request)
    case .lacking(let lack):
      let fault = Fault(needing: lack.permission, helpers: lack.helpers)
      let frame = frames.frame(fault.heading, for: lack.signedIn, tab: nil)
      return page(fault, frame, requestID: id)
    case .foreignForm:
      return page(.foreignForm(publicURL), requestID: id)
    case .staleForm:
      return await page(Fault.staleForm(back: request.target.rawPath), for: request)
    case .notAForm:
      return await page(Fault(.unsupportedMediaType), for: request)
    case .malformedForm(let error):
      var fault = Fault(.badRequest)
      fault.detail = "\(error)"
      return await page(fault, for: request)
    case .unreadableForm:
      return await page(Fault(.badRequest), for: request)
    case .busy:
      var response = await page(Fault.busy, for: request)
      response.fields[.retryAfter] = "1"
      return response
    case .unavailable(let cause):
      log("request \(id): \(cause)")
      return page(Fault(.serviceUnavailable), requestID: id)
    }
  }

  /// The page in the signed-in administrator's frame, with their theme and navigation, if there is
  /// a session.
  private func page(_ fault: Fault, for request: Request) async -> Response {
    let id = request.id.text
    guard let signedIn = await gate.known(request) else { return page(fault, requestID: id) }
    // A pending flash stays for the next page: it belongs to an action, not to this error.
    return page(
      fault, frames.unflashed(fault.heading, for: signedIn, tab: nil), requestID: id)
  }

  private func page(_ fault: Fault, requestID: String?) -> Response {
    page(fault, frames.bare(fault.heading), requestID: requestID)
  }

  private func page(_ fault: Fault, _ frame: Frame, requestID: String?) -> Response {
    var frame = frame
    frame.isNarrow = true
    let view = FailureView(frame: FrameView(frame), fault: fault, requestID: requestID)
    return .html(template.render(view), status: fault.status)
  }

  private static func signIn(thenTo next: String?, isKept: Bool) -> String {
    var query = Form()
    if let next { query.add("next", next) }
    if isKept { query.add("kept", "1") }
    return query.query(of: ConsolePaths.signIn())
  }
}

/// The content of an error page.
struct Fault: Sendable {
  let status: Status
  let heading: String
  let sentence: String
  var detail: String?
  var way = ConsolePaths.projects()
  var wayText = "Go to projects"
}

extension Fault {
  init(_ status: Status) {
    self.status = status
    switch status.code {
    case 400:
      heading = "Invalid request"
      sentence =
        "Your browser sent data that’s damaged or isn’t text. Go back and submit the form again."
    case 404:
      heading = "Page not found"
      sentence = "There’s nothing at this address, or you don’t have access to it."
      detail =
        "If someone sent you this link, check whether your role covers that project or tenant."
    case 405:
      heading = "Method not allowed"
      sentence = "This address exists, but doesn’t support this request method."
    case 413:
      heading = "Request too large"
      sentence = "The request is larger than this address accepts. Nothing was saved."
    case 414, 431:
      heading = "Address too long"
      sentence = "The address or the header fields are longer than the server accepts."
    case 415:
      heading = "Not a form"
      sentence = "This address accepts only forms as browsers submit them."
    case 408:
      heading = "Request timed out"
      sentence = "The request didn’t arrive in time. Nothing was saved. Submit it again."
    case 503:
      heading = "Service unavailable"
      sentence =
        "The database isn’t responding or can’t be written to. This request made no changes."
      detail =
        "Try again in a minute. If the problem persists, the server’s operator can find the cause in its log."
    case 500..<600:
      heading = "Something went wrong"
      sentence =
        "An error occurred on the server. It’s in the server log under the request ID below."
    default:
      heading = status.reason.isEmpty ? "Request failed" : status.reason
      sentence = "The server couldn’t complete this request."
    }
  }

  init(needing permission: Permission, helpers: [String]) {
    let names = helpers.map { Words.isolated($0) }
    let granter = Permission.manageAdministrators.holder
    let whom =
      names.isEmpty
      ? "Ask \(granter) of this instance for the role, or ask someone who has it to do this."
      : "\(Words.list(names)) can do this here. Ask them to do it, or ask \(granter) for the role."
    self.init(
      status: .forbidden, heading: "You don’t have access",
      sentence: "You’re signed in, but \(permission.formatted).", detail: whom)
  }

  static func foreignForm(_ publicURL: PublicURL) -> Fault {
    Fault(
      status: .forbidden, heading: "Form submitted from another site",
      sentence:
        "No changes made. Countersign accepts forms only from its own pages, at \(publicURL.origin).",
      detail: "If you opened Countersign at another address, open it at that one and try again.",
      way: publicURL.origin + ConsolePaths.projects(), wayText: "Open \(publicURL.origin)")
  }

  static func staleForm(back: String) -> Fault {
    Fault(
      status: .forbidden, heading: "This form is no longer valid",
      sentence:
        "No changes made. The page was opened in another session, or the browser blocks cookies.",
      detail: "Open the page again and repeat the last step.", way: back,
      wayText: "Open the page again")
  }

  static let busy = Fault(
    status: .serviceUnavailable, heading: "Server busy",
    sentence: "Too many passwords are being checked at once. No changes made. Try again.")
}

extension Permission {
  /// The permission and the roles that have it, as a clause that follows “You're signed in, but”.
  var formatted: String {
    switch self {
    case .seeScope: "you don’t have access to this page"
    case .readPolicy: "\(activity) requires a role here"
    case .createProject: "\(activity) requires the \(roleNames) role on the instance"
    case .manageTenants: "\(activity) requires the \(roleNames) role on the project"
    case .deleteProject: "\(activity) requires the \(roleNames) role on the project or the instance"
    default: "\(activity) requires the \(roleNames) role"
    }
  }

  /// What the permission allows.
  var activity: String {
    switch self {
    case .seeScope: "viewing projects and tenants"
    case .readPolicy: "viewing the MFA policy"
    case .changePolicy: "changing the MFA policy"
    case .createProject: "creating projects"
    case .changeScope: "changing settings"
    case .manageTenants: "creating and deleting tenants"
    case .deleteProject: "deleting a project"
    case .manageKeys: "managing keys and tokens"
    case .manageTrust: "managing identity providers and custom token signing keys"
    case .changeLinks: "changing where links in emails lead"
    case .findUsers: "searching users"
    case .changeUsers: "changing users"
    case .exportUsers: "exporting users"
    case .removeFactors: "removing a factor"
    case .endSessions: "ending sessions"
    case .editSupportRules: "changing support rules"
    case .protectUsers: "protecting accounts and unblocking agents"
    case .readMessages: "opening messages to users"
    case .seeApprovals: "viewing approvals"
    case .readAudit: "viewing the audit log"
    case .seeAdministrators: "viewing administrators"
    case .manageAdministrators: "managing administrators"
    }
  }
}

struct FailureView: ViewModel {
  let frame: FrameView
  let fault: Fault
  let requestID: String?

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("heading") { $0.fault.heading },
    .text("sentence") { $0.fault.sentence },
    .text("detail") { $0.fault.detail },
    .text("way") { $0.fault.way },
    .text("wayText") { $0.fault.wayText },
    .text("requestID") { $0.requestID },
  ]
}
