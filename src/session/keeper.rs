//! Stopgap keeper.
use super::counting::Counting;
use super::live::{Live, Outcome};
use super::naming::Namer;
use crate::collect::catalog;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::profile::{Profile, ProfileBuilder};
use crate::model::{Definition, Event, Mark};
use crate::store::Writer;
use crate::symbols::Options;

use crate::sys::signals::{Signals, StopToken};
use crate::units::Nanos;
use std::path::Path;
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// News.
#[derive(Debug)]
pub enum News {
    /// Fresh.
    Fresh,
    /// Ended.
    Ended(String),
    /// Failed.
    Failed(Error),
}
/// Limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// Bytes.
    pub bytes: u64,
    /// Span.
    pub span: Nanos,
}
impl Default for Limit {
    fn default() -> Self {
        Limit { bytes: 192 << 20, span: Nanos(1_800_000_000_000) }
    }
}

type Job = Box<dyn FnOnce(&Holding) + Send>;
enum Order {
    Look(Job),
    Mark(String),
    Stop,
}

/// Holding.
#[derive(Debug)]
pub struct Holding {
    builder: ProfileBuilder,
    now: Nanos,
    live: bool,
}
impl Holding {
    /// Profile.
    pub fn profile(&self) -> &Profile {
        self.builder.profile()
    }
    /// Since.
    pub fn since(&self) -> Nanos {
        Nanos(0)
    }
    /// Now.
    pub fn now(&self) -> Nanos {
        self.now
    }
    /// Live.
    pub fn live(&self) -> bool {
        self.live
    }
    /// Save.
    pub fn save(&self, path: &Path, _force: bool) -> Result<u64> {
        Err(Error::new(ErrorKind::Unsupported, format!("stopgap cannot write {}", path.display())))
    }
}
/// Keeper.
pub struct Keeper {
    orders: Sender<Order>,
    poke: Option<SyncSender<Vec<Event>>>,
    thread: JoinHandle<()>,
}
impl std::fmt::Debug for Keeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keeper")
    }
}

impl Keeper {
    /// Live.
    pub fn live(
        live: Live,
        _out: Option<Writer>,
        _limit: Limit,
        mut tell: impl FnMut(News) + Send + 'static,
    ) -> Result<Keeper> {
        let (sender, batches) = sync_channel(1024);
        let (orders, mailbox) = channel();
        let stop = StopToken::new()?;
        let poke = Some(sender.clone());
        let (sampler, readings, clock, meta) = live.parts();
        let namer = Namer::start(sampler.modules(), Options::default(), false);
        let counting = Counting::start(readings, meta.plan.interval, clock, sender.clone())?;
        let (stopping, last) = (stop.clone(), counting.last_reading());
        let drain = std::thread::spawn(move || {
            let ended = sampler.run(sender, stopping, || last.take());
            last.take();
            ended
        });
        let mut builder = ProfileBuilder::new(meta);
        for def in catalog::definitions() {
            builder.apply(Event::Define(Definition::Counter(def)));
        }
        let thread = std::thread::spawn(move || {
            let mut held = Holding { builder, now: Nanos(0), live: true };
            let mut drain = Some(drain);
            loop {
                let batch = batches.recv_timeout(Duration::from_millis(100));
                if let Ok(batch) = batch {
                    namer.ask(&batch);
                    counting.follow(&batch);
                    let mut fresh = false;
                    for event in batch {
                        if let Event::Tick(t) = &event {
                            held.now = t.at;
                            fresh = true;
                        }
                        held.builder.apply(event);
                    }
                    for event in namer.ready() {
                        held.builder.apply(event);
                    }
                    if fresh {
                        tell(News::Fresh);
                    }
                } else {
                    for event in namer.ready() {
                        held.builder.apply(event);
                    }
                }
                if held.live && drain.as_ref().is_some_and(JoinHandle::is_finished) {
                    held.live = false;
                    if let Some(d) = drain.take() {
                        match d.join() {
                            Ok(Ok(e)) => {
                                held.now = e.at;
                                tell(News::Ended(format!("{:?}", e.reason)))
                            }
                            Ok(Err(e)) => tell(News::Failed(e)),
                            Err(_) => {}
                        }
                    }
                }
                while let Ok(order) = mailbox.try_recv() {
                    match order {
                        Order::Look(job) => job(&held),
                        Order::Mark(label) => held.builder.apply(Event::Mark(Mark { at: clock.now(), label })),
                        Order::Stop => {
                            stop.stop();
                            return;
                        }
                    }
                }
            }
        });
        Ok(Keeper { orders, poke, thread })
    }
    /// Replay.
    pub fn replay(profile: Profile, _tell: impl FnMut(News) + Send + 'static) -> Result<Keeper> {
        let (orders, mailbox) = channel::<Order>();
        let now = profile.duration();
        let held = Holding { builder: ProfileBuilder::of(profile), now, live: false };
        let thread = std::thread::Builder::new()
            .spawn(move || {
                for order in mailbox {
                    match order {
                        Order::Look(job) => job(&held),
                        Order::Mark(_) => {}
                        Order::Stop => return,
                    }
                }
            })
            .context(|| "thread")?;
        Ok(Keeper { orders, poke: None, thread })
    }
    fn order(&self, order: Order) {
        let _ = self.orders.send(order);
        if let Some(p) = &self.poke {
            let _ = p.try_send(Vec::new());
        }
    }
    /// Look.
    pub fn look(&self, job: impl FnOnce(&Holding) + Send + 'static) {
        self.order(Order::Look(Box::new(job)));
    }
    /// Mark.
    pub fn mark(&self, label: String) {
        self.order(Order::Mark(label));
    }
    /// Finish.
    pub fn finish(self) -> Result<Option<Outcome>> {
        self.order(Order::Stop);
        let _ = self.thread.join();
        Ok(None)
    }
}
/// Watchman.
#[derive(Debug)]
pub struct Watchman;
impl Watchman {
    /// Start.
    pub fn start(tell: impl Fn() + Send + 'static) -> Result<Watchman> {
        let mut signals = Signals::block()?;
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_millis(100));
                if let Some(s) = signals.take()
                    && s != crate::sys::signals::Signal::Child
                {
                    tell();
                }
            }
        });
        Ok(Watchman)
    }
}
/// Suspend.
pub fn suspend() {}
