/* Expected diagnosis: the workers' CPU is 60% checksum_block, 25% compress_block, 10% encode_reply, 5% parse_request,
 * all below handle_request. Pairs of workers wait shortly for each other's reply buffer (a futex, in send_reply); the
 * dispatcher waits for room in the queue (push_request); the housekeeper sleeps (rotate_logs).
 * Halving the work of checksum_block makes a request 30% cheaper. */
#include "workload.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

/* Steps of the same dependent chain, so shares of steps are shares of CPU time: 0.1 to 0.3 ms per request. */
#define REQUEST_STEPS 100000
#define PARSE_STEPS (REQUEST_STEPS * 5 / 100)
#define COMPRESS_STEPS (REQUEST_STEPS * 25 / 100)
#define CHECKSUM_STEPS (REQUEST_STEPS * 60 / 100)
#define ENCODE_STEPS (REQUEST_STEPS * 10 / 100)

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    pthread_cond_t drained;
    int length;
    int capacity;
    int closed;
};

struct server {
    struct queue queue;
    /* One reply buffer for two workers: contention stays the same however many threads there are. */
    pthread_mutex_t *replies;
};

PLANTED static uint64_t parse_request(uint64_t request)
{
    return mix(request, PARSE_STEPS);
}

PLANTED static uint64_t compress_block(uint64_t block)
{
    return mix(block, COMPRESS_STEPS);
}

PLANTED static uint64_t checksum_block(uint64_t block)
{
    return mix(block, CHECKSUM_STEPS);
}

PLANTED static uint64_t encode_reply(uint64_t reply)
{
    return mix(reply, ENCODE_STEPS);
}

PLANTED static uint64_t send_reply(pthread_mutex_t *buffer, uint64_t reply)
{
    pthread_mutex_lock(buffer);
    reply = encode_reply(reply);
    pthread_mutex_unlock(buffer);
    return reply;
}

PLANTED static uint64_t handle_request(pthread_mutex_t *buffer, uint64_t request)
{
    uint64_t block = compress_block(parse_request(request));
    return send_reply(buffer, checksum_block(block));
}

/* Returns whether there was a request; none once the queue is closed. */
PLANTED static int pop_request(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->length == 0 && !queue->closed)
        pthread_cond_wait(&queue->filled, &queue->lock);
    int found = !queue->closed;
    if (found && queue->length-- == queue->capacity / 2)
        pthread_cond_signal(&queue->drained);
    pthread_mutex_unlock(&queue->lock);
    return found;
}

/* Fills the queue, then waits until it is half empty. */
PLANTED static void push_request(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->length > queue->capacity / 2 && !queue->closed)
        pthread_cond_wait(&queue->drained, &queue->lock);
    queue->length = queue->capacity;
    pthread_cond_broadcast(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}

PLANTED static void rotate_logs(const struct job *job)
{
    workload_sleep_ns(job, 20 * 1000 * 1000);
}

static void *worker_main(void *arg)
{
    struct worker *worker = arg;
    struct server *server = worker->shared;
    uint64_t x = (uint64_t)worker->index;
    while (pop_request(&server->queue)) {
        x = handle_request(&server->replies[worker->index / 2], x);
        workload_done(worker->job, 1);
    }
    workload_sink = x;
    return NULL;
}

static void close_queue(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->closed = 1;
    pthread_cond_broadcast(&queue->filled);
    pthread_cond_broadcast(&queue->drained);
    pthread_mutex_unlock(&queue->lock);
}

static void *dispatcher_main(void *arg)
{
    struct worker *worker = arg;
    struct server *server = worker->shared;
    pthread_setname_np(pthread_self(), "dispatcher");
    while (!workload_over(worker->job))
        push_request(&server->queue);
    close_queue(&server->queue);
    return NULL;
}

static void *housekeeper_main(void *arg)
{
    struct worker *worker = arg;
    pthread_setname_np(pthread_self(), "housekeeper");
    while (!workload_over(worker->job))
        rotate_logs(worker->job);
    return NULL;
}

/* The dispatcher and the housekeeper come on top of the workers asked for. */
static int serve(struct job *job, struct server *server)
{
    pthread_t dispatcher, housekeeper;
    struct worker helper = { .job = job, .shared = server };
    int error = pthread_create(&dispatcher, NULL, dispatcher_main, &helper);
    if (error != 0)
        return error;
    int no_housekeeper = pthread_create(&housekeeper, NULL, housekeeper_main, &helper);
    error = workload_threads(job, job->threads, "worker", worker_main, server);
    /* Without workers nobody drains the queue: the dispatcher must not wait for them. */
    close_queue(&server->queue);
    pthread_join(dispatcher, NULL);
    if (no_housekeeper == 0)
        pthread_join(housekeeper, NULL);
    return error ? error : no_housekeeper;
}

int workload_hotspot(struct job *job)
{
    int buffers = (job->threads + 1) / 2;
    struct server server = { .queue = { .lock = PTHREAD_MUTEX_INITIALIZER,
                                        .filled = PTHREAD_COND_INITIALIZER,
                                        .drained = PTHREAD_COND_INITIALIZER,
                                        .capacity = job->threads * 8 } };
    server.replies = calloc((size_t)buffers, sizeof *server.replies);
    if (!server.replies)
        return ENOMEM;
    for (int i = 0; i < buffers; i++)
        pthread_mutex_init(&server.replies[i], NULL);
    int error = serve(job, &server);
    free(server.replies);
    return error;
}
