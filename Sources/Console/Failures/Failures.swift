import HTTP
import Identity
import Templating

/// Makes the pages for what went wrong or is not allowed.
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

  /// The page for a status that the server itself found, such as 413.
  func page(_ status: Status, requestID: String?) -> Response {
    page(Fault(status), requestID: requestID)
  }

  /// The page for a request that was refused.
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

  /// Whoever is signed in keeps their colors and the way to everything else.
  private func page(_ fault: Fault, for request: Request) async -> Response {
    let id = request.id.text
    guard let signedIn = await gate.known(request) else { return page(fault, requestID: id) }
    // What was done before is told on the page that was meant, not on one that is not there.
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

/// A fault in words.
struct Fault: Sendable {
  let status: Status
  let heading: String
  let sentence: String
  var detail: String?
  var way = ConsolePaths.projects()
  var wayText = "Go to the projects"
}

extension Fault {
  init(_ status: Status) {
    self.status = status
    switch status.code {
    case 400:
      heading = "This request cannot be read"
      sentence = "What your browser sent is damaged or not text. Go back and send the form again."
    case 404:
      heading = "There is no such page"
      sentence = "Nothing is at this address, or nothing that you may see."
      detail = "If somebody mailed it to you, ask whether your role reaches that project or tenant."
    case 405:
      heading = "This address does not take that"
      sentence = "The address exists, but it answers other methods only."
    case 413:
      heading = "That is too much at once"
      sentence = "What was sent is larger than this address takes. Nothing was saved."
    case 414, 431:
      heading = "The address is too long"
      sentence = "The address or the fields sent with it are longer than the server takes."
    case 415:
      heading = "That is not a form"
      sentence = "This address takes forms as browsers send them, and nothing else."
    case 408:
      heading = "The request took too long"
      sentence = "It did not arrive in time. Nothing was saved; send it again."
    case 503:
      heading = "It cannot be done right now"
      sentence =
        "The database does not answer, or cannot write. Nothing was changed by this request."
      detail =
        "Try again in a minute. If it stays so, whoever runs this server finds the cause in its log."
    case 500..<600:
      heading = "Something went wrong"
      sentence = "The fault is on our side and is in the server’s log under the number below."
    default:
      heading = status.reason.isEmpty ? "This did not work" : status.reason
      sentence = "The server could not answer this request."
    }
  }

  init(needing permission: Permission, helpers: [String]) {
    let names = helpers.map { Words.isolated($0) }
    let whom =
      names.isEmpty
      ? "Ask an owner of this Countersign for the role, or ask somebody who has it to do it."
      : "\(Words.list(names)) may do it here. Ask them to do it, or an owner for the role."
    self.init(
      status: .forbidden, heading: "Your role does not reach that far",
      sentence: "You are signed in, but \(permission.formatted).", detail: whom)
  }

  static func foreignForm(_ publicURL: PublicURL) -> Fault {
    Fault(
      status: .forbidden, heading: "This form came from elsewhere",
      sentence:
        "Nothing was changed. Countersign takes forms from its own pages only, at \(publicURL.origin).",
      detail: "If you opened it under another name, open it under that address and try again.",
      way: publicURL.origin + ConsolePaths.projects(), wayText: "Open \(publicURL.origin)")
  }

  static func staleForm(back: String) -> Fault {
    Fault(
      status: .forbidden, heading: "This form is no longer valid",
      sentence:
        "Nothing was changed. The page was opened in another session, or the browser keeps no cookies.",
      detail: "Open the page again and repeat the last step.", way: back,
      wayText: "Open the page again")
  }

  static let busy = Fault(
    status: .serviceUnavailable, heading: "One moment",
    sentence: "Too many passwords are being checked at once. Nothing was changed; try again now.")
}

extension Permission {
  /// What the role lacks and who has it, to follow “You are signed in, but”.
  var formatted: String {
    switch self {
    case .seeScope: "you may not see this"
    case .readPolicy: "reading the MFA policy needs a role here"
    case .changePolicy: "changing the MFA policy needs the role policy admin or owner"
    case .createProject: "making projects needs the role policy admin or owner of the instance"
    case .changeScope: "changing settings needs the role policy admin or owner"
    case .manageTenants:
      "making and deleting tenants needs the role policy admin or owner of the project"
    case .deleteProject: "deleting a project needs the role owner of it, or of the instance"
    case .manageKeys: "keys and tokens need the role policy admin or owner"
    case .manageTrust: "saying whose word about users is believed needs the role owner"
    case .changeLinks: "deciding where links in emails lead requires the role owner"
    case .findUsers: "finding users needs the role support, auditor or owner"
    case .changeUsers: "changing users needs the role owner"
    case .exportUsers: "exporting users needs the role owner"
    case .removeFactors: "removing a factor needs the role support or owner"
    case .endSessions: "ending sessions needs the role support or owner"
    case .editSupportRules:
      "changing what is asked of the support needs the role policy admin or owner"
    case .protectUsers: "protecting accounts and letting agents go on needs the role owner"
    case .readMessages: "opening messages to users needs the role owner"
    case .seeApprovals: "approvals need the role support, policy admin or owner"
    case .readAudit: "reading the audit log needs the role auditor or owner"
    case .seeAdministrators: "seeing administrators needs the role auditor or owner"
    case .manageAdministrators: "managing administrators needs the role owner"
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
