//! One machine: the program and the files go there, the verb runs, its record comes home.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Rlimit;
use whyfaster_core::fleet::visit::Trouble;

use super::engine::Told;
use super::link::Link;
use super::machine::{Job, Machine, Standing};
use super::message::{LARGEST, LONGEST, Message, Request, beat};
use super::parcel::Load;
use super::shell::{Hello, NO_ROOM, NOT_RUN, script};

/// How long a machine is waited for.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Without a sign from it, whatever it does.
    pub silence: Duration,
    /// In all.
    pub limit: Option<Duration>,
}

/// How long the far side may take to clear up.
const FAREWELL: Duration = Duration::from_secs(15);

/// How often an engine is asked how the job stands, at first and in the long run: most machines are given at once.
const SOON: Duration = Duration::from_millis(100);
const LATER: Duration = Duration::from_secs(5);

/// How long nothing is told of a job that waits.
const QUIET: Duration = Duration::from_secs(3);

/// Exit statuses with which a verb has done its work: 0, and those of the gates.
const DONE: [i32; 3] = [0, 3, 4];

/// What every machine is asked.
#[derive(Clone, Copy, Debug)]
pub struct Errand<'a> {
    /// The verb and its words.
    pub words: &'a [String],
    /// What goes along.
    pub load: &'a Load,
    /// How long it is waited for.
    pub patience: Patience,
}

/// Takes a machine for this run by what it says of itself; by what name it is measured already, if it is.
pub(super) type Claim<'a> = &'a (dyn Fn(&Hello) -> Result<(), String> + Sync);

/// Hears why the engine does not give the machine yet.
pub(super) type Waits<'a> = &'a (dyn Fn(String) + Sync);

/// The bytes of its record. What leads there gets this limit on open files.
pub(super) fn visit(
    machine: &Machine,
    errand: &Errand<'_>,
    claim: Claim<'_>,
    waits: Waits<'_>,
    (stop, files): (BorrowedFd<'_>, Option<Rlimit>),
) -> Result<Vec<u8>, Trouble> {
    if let Some(trouble) = &machine.out {
        return Err(trouble.clone());
    }
    let job = machine.job.as_deref();
    let given = job.map_or(Ok(()), |job| given(job, waits, stop));
    let ended = given.and_then(|()| {
        let link = Link::open(&(machine.way)(errand.patience.silence), files)
            .map_err(|error| Trouble::Unreachable { said: vec![error.to_string()], status: None })?;
        let queued = machine.queues && job.is_none();
        let mut visit = Visit {
            link,
            errand,
            waits,
            stop,
            began: Instant::now(),
            beat: Instant::now(),
            measuring: false,
            queued,
            met: false,
        };
        let ended = visit.all(claim);
        // Who hangs is not waited for: it ends what it runs once it finds its lifeline closed. And who has not been met has nothing to clear up,
        // but for a client of ours that takes its own job back.
        let hung = matches!(ended, Err(Trouble::Silent { .. }));
        visit.link.end(if hung || !visit.met && !queued { Duration::ZERO } else { FAREWELL });
        ended
    });
    if let Some(job) = job.filter(|_| ended.is_err()) {
        job.cancel();
    }
    ended
}

/// Waits until the engine gives the machine, however long that is.
fn given(job: &dyn Job, waits: Waits<'_>, stop: BorrowedFd<'_>) -> Result<(), Trouble> {
    let stops = || is_stopped(stop, Duration::ZERO);
    let lost = |said: Vec<String>| match stops() {
        true => Trouble::Interrupted,
        false => Trouble::Unreachable { said, status: None },
    };
    job.request(&stops).map_err(lost)?;
    let (began, mut every, mut told) = (Instant::now(), SOON, String::new());
    loop {
        match job.standing(&stops) {
            Standing::Given => return Ok(()),
            Standing::Gone(how) => return Err(lost(vec![format!("its job: {how}")])),
            Standing::Waits(why) | Standing::Unknown(why) if why != told && began.elapsed() >= QUIET => {
                waits(why.clone());
                told = why;
            }
            Standing::Waits(_) | Standing::Unknown(_) => {}
        }
        if is_stopped(stop, every) {
            return Err(Trouble::Interrupted);
        }
        every = (every * 2).min(LATER);
    }
}

/// Waits so long; whether all is to stop.
pub(super) fn is_stopped(stop: BorrowedFd<'_>, within: Duration) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(stop, PollFlags::IN)];
    poll(&mut fds, Timespec::try_from(within).ok().as_ref()).is_ok_and(|ready| ready > 0)
}

struct Visit<'a> {
    link: Link,
    errand: &'a Errand<'a>,
    waits: Waits<'a>,
    stop: BorrowedFd<'a>,
    began: Instant,
    /// When it last got a sign from us.
    beat: Instant,
    /// The verb runs, and signs go both ways.
    measuring: bool,
    /// Its turn has not come over there.
    queued: bool,
    /// Its shell has said which machine it is.
    met: bool,
}

impl Visit<'_> {
    fn all(&mut self, claim: Claim<'_>) -> Result<Vec<u8>, Trouble> {
        let errand = self.errand;
        self.link.send(script().into_bytes());
        let hello = self.hello()?;
        (self.met, self.queued, self.began) = (true, false, Instant::now());
        if hello.system != "Linux" {
            return Err(Trouble::NotLinux { system: hello.system });
        }
        let Some(program) = errand.load.program(&hello.machine) else {
            return Err(Trouble::NoProgram { machine: hello.machine });
        };
        claim(&hello).map_err(|name| Trouble::SameMachine { name })?;
        let files = errand.load.files()?;
        self.link.send(format!("{}\n", program.bytes.len()).into_bytes());
        self.link.send(program.bytes.clone());
        match self.message()? {
            Message::Ready => {}
            other => return Err(strange(&other)),
        }
        let silence_ms = errand.patience.silence.as_millis() as u64;
        let (sent, files): (Vec<_>, Vec<_>) = files.into_iter().unzip();
        let sizes: Vec<u64> = sent.iter().map(|it| it.bytes).collect();
        let request =
            Request { digest: program.digest.clone(), words: errand.words.to_vec(), files: sent, silence_ms };
        let mut line =
            serde_json::to_vec(&request).map_err(|error| Trouble::NotSent { why: error.to_string() })?;
        line.push(b'\n');
        self.link.send(line);
        for (file, bytes) in files.into_iter().zip(sizes) {
            self.link.send_file(file, bytes);
        }
        self.record()
    }

    /// Waits for the machine's own line. Before it comes what its engine has to say, and what else comes is a greeting.
    fn hello(&mut self) -> Result<Hello, Trouble> {
        loop {
            let line = self.line()?;
            if let Some(hello) = Hello::of(&line) {
                return Ok(hello);
            }
            match Told::of(&line) {
                Some(Told::Waits(why)) => (self.waits)(why),
                Some(Told::Given) => (self.queued, self.began) = (false, Instant::now()),
                Some(Told::Out(trouble)) => return Err(trouble),
                None => self.link.note(&line),
            }
        }
    }

    /// What the verb says and how it ends.
    fn record(&mut self) -> Result<Vec<u8>, Trouble> {
        loop {
            match self.message()? {
                Message::Begun => {
                    self.measuring = true;
                    self.beat = Instant::now();
                }
                Message::Alive => {}
                Message::Said { line } => self.link.note(&line),
                Message::Damaged => return Err(Trouble::Damaged),
                Message::Busy { uid } => return Err(Trouble::Busy { uid }),
                Message::NoRoom { why } => return Err(Trouble::NoRoom { said: vec![why] }),
                Message::Ended { status, .. } if !DONE.contains(&status) => {
                    return Err(Trouble::Verb { status, said: self.link.said() });
                }
                Message::Ended { bytes, .. } if bytes > LARGEST => {
                    return Err(Trouble::NoRecord { why: format!("it would be {bytes} bytes") });
                }
                Message::Ended { bytes, .. } => return self.bytes(bytes),
                Message::Ready => return Err(strange(&Message::Ready)),
            }
        }
    }

    fn message(&mut self) -> Result<Message, Trouble> {
        loop {
            let line = self.line()?;
            match serde_json::from_str(&line) {
                Ok(message) => return Ok(message),
                // What a program over there says by the same way is no message.
                Err(_) => self.link.note(&line),
            }
        }
    }

    fn line(&mut self) -> Result<String, Trouble> {
        loop {
            if let Some(line) = self.link.line(LONGEST) {
                return Ok(line);
            }
            self.turn()?;
        }
    }

    fn bytes(&mut self, count: u64) -> Result<Vec<u8>, Trouble> {
        loop {
            if let Some(bytes) = self.link.bytes(count) {
                return Ok(bytes);
            }
            if self.link.ended() {
                return Err(self.cut());
            }
            self.turn()?;
        }
    }

    /// Waits for the next thing to happen, and gives signs meanwhile.
    fn turn(&mut self) -> Result<(), Trouble> {
        if self.link.over() {
            return Err(self.cut());
        }
        let Patience { silence, limit } = self.errand.patience;
        let now = Instant::now();
        if self.queued {
            // However long that is: its client says when it has come.
            return self.went(now + Duration::from_secs(3600));
        }
        if limit.is_some_and(|limit| now >= self.began + limit) {
            return Err(Trouble::TooLong { seconds: limit.unwrap_or_default().as_secs_f64() });
        }
        // Our own signs go into a line that hangs as into one that does not.
        let stirred = if self.measuring { self.link.heard } else { self.link.stirred };
        if now >= stirred + silence {
            return Err(Trouble::Silent { seconds: silence.as_secs_f64(), measuring: self.measuring });
        }
        let mut until = stirred + silence;
        until = limit.map_or(until, |limit| until.min(self.began + limit));
        if self.measuring {
            let every = Duration::from_millis(beat(silence.as_millis() as u64));
            if now >= self.beat + every && self.link.idle() {
                self.beat = now;
                self.link.send(*b"\n");
            }
            until = until.min(self.beat + every);
        }
        self.went(until)
    }

    fn went(&mut self, until: Instant) -> Result<(), Trouble> {
        match self.link.turn(Some(self.stop), until) {
            Ok(false) => Ok(()),
            Ok(true) => Err(Trouble::Interrupted),
            Err(error) => Err(Trouble::NotSent { why: error.to_string() }),
        }
    }

    /// Why nothing comes any more.
    fn cut(&mut self) -> Trouble {
        let status = self.link.end(Duration::from_secs(1));
        let said = self.link.said();
        match status {
            Some(NO_ROOM) => Trouble::NoRoom { said },
            Some(NOT_RUN) => Trouble::NotRun { said },
            _ if self.measuring => Trouble::Cut { said },
            status => Trouble::Unreachable { said, status },
        }
    }
}

fn strange(message: &Message) -> Trouble {
    Trouble::NoRecord { why: format!("out of turn it said {message:?}") }
}
